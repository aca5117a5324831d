"""How texts and numbers appear on a page: model output is untrusted, and shown as what it is."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import unicodedata
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

# controls, half surrogate pairs, what turns the direction of the text around it, what has no
# width (but for the joiners that scripts and emoji need); a line may end as on Windows
HIDDEN = re.compile(
    "([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
    "|\r(?!\n))\\1*"
)
MARKS = 200
REPLACED = "\ufffd"
DASH = "–"


def seen(value: object, marks: int = MARKS) -> Markup:
    """Escape a text, and make visible what would hide in it or act on its surroundings."""
    text = "" if value is None else str(value)
    parts: list[Markup] = []
    end = 0
    for match in itertools.islice(HIDDEN.finditer(text), marks):
        parts += [escape(text[end : match.start()]), _mark(match)]
        end = match.end()
    # a text of nothing but such characters would become a page of marks
    return Markup("").join([*parts, escape(HIDDEN.sub(REPLACED, text[end:]))])


def plain(value: object) -> str:
    """Return a text for an attribute or a chart: what hides in it is spelt out."""
    text = "" if value is None else str(value)
    return HIDDEN.sub(lambda match: f"<{_code(match)}>", text)


def cut(value: object, width: int) -> str:
    """Shorten a text to one line of some characters."""
    line = " ".join(("" if value is None else str(value))[: 4 * width].split())
    return line if len(line) <= width else line[: width - 1] + "…"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number for reading: a dash where there is none."""
    if value is None or not math.isfinite(value):
        return DASH
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}" if abs(value) >= 10**-digits or not value else f"{value:.1e}"


def count(value: float | None) -> str:
    """Write a whole number, such as a mean number of tokens."""
    return DASH if value is None or not math.isfinite(value) else f"{math.floor(value + 0.5):,}"


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return DASH if value is None else f"{100 * value:.{digits}f} %"


def completion(value: float | None) -> str:
    """Write a percentage so that only what is whole is called 100."""
    return DASH if value is None else f"{min(value, 99.9) if value < 100 else value:.1f} %"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write the bounds of an interval."""
    return "" if low is None or high is None else f"{number(low, digits)} … {number(high, digits)}"


def cost(value: float | None) -> str:
    """Write an amount of money, whose unit is that of the prices, so that small ones show."""
    if value is None or not math.isfinite(value):
        return DASH
    digits = 2 if abs(value) >= 100 else 4 if abs(value) >= 0.01 else 6
    return f"{value:,.{digits}f}"


def duration(milliseconds: float | None) -> str:
    """Write how long something took."""
    if milliseconds is None or not math.isfinite(milliseconds):
        return DASH
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:,.1f} min"


def moment(value: datetime | None) -> str:
    """Write a time in UTC."""
    return DASH if value is None else value.strftime("%Y-%m-%d %H:%M UTC")


def size(value: float) -> str:
    """Write a number of bytes or characters with its unit left to the reader."""
    for unit in ("", "k", "M"):
        if abs(value) < 1000:
            return f"{value:.0f}{unit}" if not unit or value >= 10 else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}G"


def tail(path: str) -> str:
    """Write the end of a path, by which people know it: the folder and the file."""
    return "/".join(path.rsplit("/", 2)[-2:])


def utc(seconds: float) -> datetime:
    """Turn a file's time into one that compares with the marts'."""
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
    "seen": seen,
    "plain": plain,
    "cut": cut,
    "number": number,
    "count": count,
    "percent": percent,
    "completion": completion,
    "cost": cost,
    "duration": duration,
    "moment": moment,
    "size": size,
    "tail": tail,
    "shell": shlex.quote,
}
