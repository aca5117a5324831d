"""Why requests fail, in a few lines for a terminal; each cause is told once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from collector.terminal import label

Redact = Callable[[str], str]
MOST_CAUSES = 10
MOST_LINES = 3
LINE_CHARACTERS = 300
TRACEBACK = "Traceback (most recent call last)"
# causes differ by more than a port, an index or an id; a status says something
COUNTED = re.compile(r"(?<!HTTP )(?<!answered )\b\w*\d[\w,]*")
MARKUP = re.compile(r"<[^>]*>")
# what FastAPI puts between the names of fields: the place in the request, and names of types
FIELD = re.compile(r"[a-z_]\w*|\d+")
OUTER_FIELDS = ("body", "responses_create_params")


class Causes:
    """The causes of a session, or of a server: of each, the first failure is told."""

    def __init__(self) -> None:
        """Start without causes."""
        self._seen: list[str] = []

    def is_new(self, text: str) -> bool:
        """Tell whether no failure had this cause before; after MOST_CAUSES, none is new.

        A server that quotes the answer of another server has the cause of that server.
        """
        cause = COUNTED.sub("#", text.replace("\\", ""))
        if len(self._seen) >= MOST_CAUSES or any(seen in cause for seen in self._seen):
            return False
        self._seen.append(cause)
        return True


def cause_in_answer(text: str, redact: Redact = str) -> str:
    """Return the reason in an error answer: a text, or JSON as FastAPI and OpenAI write it.

    JSON of another form may repeat the request, so it gives an empty text.
    """
    try:
        return cause_of(json.loads(text), redact)
    except (ValueError, RecursionError):
        is_cut = text.lstrip().startswith(("{", "["))
        return "" if is_cut else cause_of(MARKUP.sub(" ", text), redact)


def cause_of(detail: Any, redact: Redact = str) -> str:
    """Return the first lines of a reason, without secrets; of a traceback, the last one."""
    for name in ("error", "detail", "message"):
        if isinstance(detail, dict) and detail.get(name):
            detail = detail[name]
    if isinstance(detail, list):
        detail = "\n".join(_grouped(_field_problem(one) for one in detail if isinstance(one, dict)))
    text = redact(detail) if isinstance(detail, str) else ""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    shown = lines[-1:] if TRACEBACK in text else lines[:MOST_LINES]
    return "\n".join(label(line, LINE_CHARACTERS) for line in shown)


def _field_problem(problem: dict[str, Any]) -> str:
    """Return FastAPI's message about a field, without the value of the field."""
    place = problem.get("loc")
    parts = map(str, place if isinstance(place, list) else [])
    names = [part for part in parts if FIELD.fullmatch(part)]
    while names and names[0] in OUTER_FIELDS:
        names = names[1:]
    return ": ".join(filter(None, [str(problem.get("msg") or ""), ".".join(names)]))


def _grouped(problems: Iterable[str]) -> list[str]:
    """Return the first of all problems that differ only in their numbers, with their count."""
    groups: dict[str, list[str]] = {}
    for problem in problems:
        groups.setdefault(COUNTED.sub("#", problem), []).append(problem)
    return [
        same[0] + (f" (and {len(same) - 1:,} more like it)" if len(same) > 1 else "")
        for same in groups.values()
    ]
