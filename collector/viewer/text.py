"""Formats texts and numbers for the pages. Model output is untrusted: hidden characters show."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from collector.artifacts import file_paths
from collector.profiling.identity_blocks import sampling_text, span_text
from collector.profiling.known_runs import stored_tags
from collector.terminal import duration_text

# control characters, halves of surrogate pairs, characters that change the direction of text, and
# characters without width, except for the joiners that scripts and emoji need; \r\n is a line end
HIDDEN = re.compile(
    "([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
    "|\r(?!\n))\\1*"
)
NAME_PARTS = re.compile(r"(?<=[_/.-])(?=[^\W_])")
MARKS = 200
REPLACED = "\ufffd"
DASH = "–"


def escape_visible(value: object, marks: int = MARKS) -> Markup:
    """Escape a text for HTML, and show its hidden characters as marks such as U+202E.

    After `marks` marks, each further run of a hidden character becomes one U+FFFD.
    """
    text = "" if value is None else str(value)
    parts: list[Markup] = []
    end = 0
    for match in itertools.islice(HIDDEN.finditer(text), marks):
        parts += [escape(text[end : match.start()]), _mark(match)]
        end = match.end()
    # a text of hidden characters only would fill the page with marks
    return Markup("").join([*parts, escape(HIDDEN.sub(REPLACED, text[end:]))])


def with_code(value: object) -> Markup:
    """Escape a description as `escape_visible` does; what stands between backticks is code."""
    parts = ("" if value is None else str(value)).split("`")
    if len(parts) % 2 == 0:  # a backtick without its twin
        return escape_visible(value)
    return Markup("").join(
        Markup("<code>{}</code>").format(escape_visible(part))
        if index % 2
        else escape_visible(part)
        for index, part in enumerate(parts)
    )


def breakable(value: object) -> Markup:
    """Escape a name as `escape_visible` does, and let lines break between its parts."""
    parts = NAME_PARTS.split("" if value is None else str(value))
    return Markup("<wbr>").join(escape_visible(part) for part in parts)


def visible_text(value: object) -> str:
    """Replace hidden characters by codes such as <U+202E>, without escaping for HTML."""
    text = "" if value is None else str(value)
    return HIDDEN.sub(lambda match: f"<{_code(match)}>", text)


def exact(value: object) -> Markup:
    """Escape a text for HTML and keep its hidden characters, for a form that sends it back."""
    return escape(value)


def shorten(value: object, width: int) -> str:
    """Return a text as one line of at most `width` characters."""
    line = " ".join(("" if value is None else str(value))[: 4 * width].split())
    return line if len(line) <= width else line[: width - 1] + "…"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number; a missing one is a dash."""
    if value is None or not math.isfinite(value):
        return DASH
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}" if abs(value) >= 10**-digits or not value else f"{value:.1e}"


def figure(value: float | None, is_whole: bool) -> str:  # noqa: FBT001 - a filter
    """Format a number of a column: without decimals if the column holds whole numbers only."""
    return count(value) if is_whole else number(value)


def count(value: float | None) -> str:
    """Format a number without decimals, such as a mean number of tokens."""
    return DASH if value is None or not math.isfinite(value) else f"{math.floor(value + 0.5):,}"


def percent(value: float | None, digits: int = 1) -> str:
    """Format a share between 0 and 1 as a percentage."""
    return DASH if value is None else f"{100 * value:.{digits}f} %"


def completion(value: float | None) -> str:
    """Format a percentage; only a value of 100 is shown as 100.0 %."""
    return DASH if value is None else f"{min(value, 99.9) if value < 100 else value:.1f} %"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Format the bounds of an interval; empty if a bound is missing."""
    return "" if low is None or high is None else f"{number(low, digits)} … {number(high, digits)}"


def cost(value: float | None) -> str:
    """Format an amount of money in the unit of the prices; small amounts get more digits."""
    if value is None or not math.isfinite(value):
        return DASH
    digits = 2 if abs(value) >= 100 else 4 if abs(value) >= 0.01 else 6
    return f"{value:,.{digits}f}"


def duration(milliseconds: float | None) -> str:
    """Format a duration as milliseconds, seconds or minutes."""
    if milliseconds is None or not math.isfinite(milliseconds):
        return DASH
    return duration_text(milliseconds)


def moment(value: datetime | None) -> str:
    """Format a time in UTC."""
    return DASH if value is None else value.strftime("%Y-%m-%d %H:%M UTC")


def size(value: float) -> str:
    """Format a number of bytes or characters, such as 1.2M; the caller adds the unit."""
    for unit in ("", "k", "M"):
        if abs(value) < 1000:
            return f"{value:.0f}{unit}" if not unit or value >= 10 else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}G"


def tail(path: str) -> str:
    """Return the last folder and the file name of a path."""
    return "/".join(path.rsplit("/", 2)[-2:])


def file_name(path: str, is_report: bool = True) -> str:  # noqa: FBT001, FBT002 - a filter
    """Return the name of a file without its folders, which a report must not tell.

    A run that was merged from shards has several files.
    """
    return ", ".join(one.rpartition("/")[2] if is_report else one for one in file_paths(path))


def without_folders(text: str, *paths: Path) -> str:
    """Return a message without the folders of the files that it names."""
    for path in paths:
        text = text.replace(f"{path.parent}/", "")
    return text


def utc(seconds: float) -> datetime:
    """Convert seconds since the epoch to a UTC time without a zone, as in the marts."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _code(match: re.Match[str]) -> str:
    times = len(match[0])
    return f"U+{ord(match[1]):04X}" + (f" ×{times}" if times > 1 else "")


def _mark(match: re.Match[str]) -> Markup:
    char = match[1]
    name = (
        "half of a surrogate pair" if "\ud800" <= char <= "\udfff" else unicodedata.name(char, "")
    )
    title = f"U+{ord(char):04X} {name}".strip()
    return Markup('<span class="hidden-char" title="{}">{}</span>').format(title, _code(match))


FILTERS: dict[str, Any] = {
    "escape_visible": escape_visible,
    "breakable": breakable,
    "with_code": with_code,
    "exact": exact,
    "shorten": shorten,
    "number": number,
    "count": count,
    "figure": figure,
    "percent": percent,
    "completion": completion,
    "cost": cost,
    "duration": duration,
    "moment": moment,
    "size": size,
    "tail": tail,
    "file_name": file_name,
    "shell": shlex.quote,
    "sampling": sampling_text,
    "span": span_text,
    "tags": stored_tags,
}
