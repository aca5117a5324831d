"""Understand requests: a rule is a sentence with slots, and every sentence must fit one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
PERSON = r"[A-Z][\w-]*(?: [A-Z][\w-]*)?"
DATE = rf"today|tomorrow|\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}} (?:{'|'.join(MONTHS)})"
TYPES = {
    "person": PERSON,
    "company": r"[A-Z][\w-]*(?: [A-Z][\w-]*)*",
    "quoted": r'"[^"]+"',
    "date": rf"(?:on )?(?:{DATE})",
    "time": r"\d{1,2}:\d{2}",
    "number": r"\d+",
    "status": r"(?:in the )?backlog|in progress|in review|completed",
    "stage": "lead|qualified|proposal|won|lost",
    "word": r"[A-Z]\w*",
    "address": r"[^\s@]+@[^\s@]+\w",
}
SLOT = re.compile(r"\{(\w+):(\w+)\}")
# "then:" and "2." between requests, and politeness
FILLER = re.compile(r"(?:\s+|(?:also|then)[:,] |\d+\. |please )*", re.IGNORECASE)
TODAY = re.compile(r"[Tt]oday is \w+, (\d{1,2}) (\w+) (\d{4})")

Slots = dict[str, str]


@dataclass(frozen=True)
class Intent:
    """A request that was understood."""

    kind: str
    slots: Slots


@dataclass(frozen=True)
class Rule:
    """A sentence that means a kind of request."""

    kind: str
    pattern: re.Pattern[str]
    types: dict[str, str]


class NotUnderstoodError(Exception):
    """A request, or a part of one, that no rule fits."""


def rule(kind: str, sentence: str) -> Rule:
    """Make a rule; the sentence is a pattern in which {name:type} stands for a value."""
    pattern = SLOT.sub(lambda slot: f"(?P<{slot[1]}>{TYPES[slot[2]]})", sentence)
    return Rule(kind, re.compile(rf"{pattern}\.?(?=\s|$)"), dict(SLOT.findall(sentence)))


def understand(request: str, rules: Sequence[Rule], *, instructions: str) -> list[Intent]:
    """Return what is asked, in order; raise NotUnderstoodError if anything remains unclear."""
    today = _today(instructions)
    intents: list[Intent] = []
    rest = _trimmed(request)
    while rest or not intents:
        fits = [(found.end(), fit, found) for fit in rules if (found := fit.pattern.match(rest))]
        if not fits:
            raise NotUnderstoodError(rest)
        end, fit, found = max(fits, key=lambda fitting: fitting[0])
        slots = {name: _value(kind, found[name], today) for name, kind in fit.types.items()}
        intents.append(Intent(fit.kind, {**slots, "today": today.isoformat() if today else ""}))
        rest = _trimmed(rest[end:])
    return intents


def _trimmed(text: str) -> str:
    """Return the text from its next request on, which begins in lower case as the rules do."""
    start = FILLER.match(text)
    rest = text[start.end() :] if start else text
    return rest[:1].lower() + rest[1:]


def _value(kind: str, text: str, today: date | None) -> str:
    if kind == "quoted":
        return text[1:-1]
    if kind == "date":
        return _day(text.removeprefix("on "), today)
    if kind == "status":
        return text.removeprefix("in the ").replace(" ", "_")
    return text


def _today(instructions: str) -> date | None:
    found = TODAY.search(instructions)
    if not found or found[2] not in MONTHS:
        return None
    try:
        return date(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]))
    except ValueError:
        return None


def _day(text: str, today: date | None) -> str:
    if text[:4].isdigit():
        return text
    if today is None:
        raise NotUnderstoodError(f"{text}, since nobody told me the date")
    if text in ("today", "tomorrow"):
        return (today + timedelta(days=text == "tomorrow")).isoformat()
    day, month = text.split()
    try:
        return date(today.year, MONTHS.index(month) + 1, int(day)).isoformat()
    except ValueError as error:
        raise NotUnderstoodError(text) from error
