"""Mistakes as models make them: how likely they are, and what they look like."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from collector.servers.responses_api_models.simulated_model.conversation import (
    Call,
    Conversation,
    Row,
)
from collector.servers.responses_api_models.simulated_model.progress import Progress, is_lookup
from collector.servers.responses_api_models.simulated_model.turns import Turn, calling, saying

# shares of requests that are never, and nearly always, got wrong
SAFE_SHARE = 0.15
HARD_SHARE = 0.05
HARD_WEIGHT = 14.0
FIRST_STEP = 0.6
GROWTH = 0.36
GROWTH_POWER = 1.6
MAX_CHANCE = 0.95
FINISHED = "Everything is done."


@dataclass(frozen=True)
class Risk:
    """What makes slips likely: the rate, the temperature, and the request itself."""

    rate: float
    temperature: float
    request: str

    def chance(self, step: int) -> float:
        """Return how likely a slip is in the step of that number."""
        warmth = 0.2 + 0.8 * self.temperature
        grown: float = FIRST_STEP + GROWTH * float(step) ** GROWTH_POWER
        return min(MAX_CHANCE, self.rate * _weight(self.request) * warmth * grown)


def _weight(request: str) -> float:
    """Return how hard a request is for this policy, always the same for the same text."""
    digest = hashlib.sha256(request.encode("utf-8", "replace")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < SAFE_SHARE:
        return 0.0
    if place > 1 - HARD_SHARE:
        return HARD_WEIGHT
    return 0.4 + 2.2 * (place - SAFE_SHARE) / (1 - SAFE_SHARE - HARD_SHARE)


def slipped(rng: Random, progress: Progress, conversation: Conversation) -> Turn:
    """Do something else than the next call that the plan has."""
    call = progress.call
    if call is None:
        return saying(FINISHED)
    if rng.random() < 0.12:
        return _malformed(call)
    if is_lookup(call):
        return calling(_mistyped(rng, call)) if rng.random() < 0.8 else saying(FINISHED)
    mistakes: tuple[Callable[[], Turn], ...] = (
        lambda: calling(_wrong_value(rng, call, conversation)),
        lambda: calling(_wrong_record(rng, call, conversation)),
        lambda: calling(progress.following) if progress.following else saying(FINISHED),
        lambda: saying(FINISHED),
    )
    return rng.choice(mistakes)()


def wrong_answer(rng: Random, answer: Fraction) -> Fraction:
    """Return a number that an arithmetic slip gives."""
    mistakes = (answer + 1, answer - 1, answer + 10, answer * 10, answer - 10, answer + 100)
    return rng.choice([wrong for wrong in mistakes if wrong != answer])


def _malformed(call: Call) -> Turn:
    """Break off the arguments' text, so that it is no JSON."""
    turn = calling(call)
    return Turn(tool=turn.tool, arguments=turn.arguments[:-1], thought=turn.thought)


def _mistyped(rng: Random, call: Call) -> Call:
    """Swap two letters of an argument."""
    given = [name for name, value in call.arguments.items() if isinstance(value, str)]
    if not given:
        return call
    name = rng.choice(given)
    text = call.arguments[name]
    place = rng.randrange(max(1, min(len(text), 12) - 1))
    swapped = text[:place] + text[place : place + 2][::-1] + text[place + 2 :]
    return _with(call, name, swapped if swapped != text else text + "s")


def _wrong_record(rng: Random, call: Call, conversation: Conversation) -> Call:
    """Take another record that a search has shown, or a neighbour of the right one."""
    name = next((name for name in call.arguments if name.endswith("_id")), None)
    if name is None:
        return _wrong_value(rng, call, conversation)
    right = str(call.arguments[name])
    kind, _, number = right.partition("-")
    shown = re.findall(
        rf"'({re.escape(kind)}-\d+)'", str([step.output for step in conversation.steps])
    )
    others = sorted(set(shown) - {right})
    neighbour = f"{kind}-{int(number) + 1:04d}" if number.isdigit() else right + "0"
    return _with(call, name, rng.choice(others) if others else neighbour)


def _wrong_value(rng: Random, call: Call, conversation: Conversation) -> Call:
    """Get one of the values wrong."""
    given = [
        name
        for name, value in call.arguments.items()
        if value is not None and not name.endswith("_id")
    ]
    if not given:
        return _wrong_record(rng, call, conversation)
    name = rng.choice(given)
    schema = (conversation.tools[call.name].get("properties") or {}).get(name) or {}
    return _with(call, name, _other_value(rng, call.arguments[name], schema))


def _other_value(rng: Random, value: Any, schema: Row) -> Any:
    kinds = [schema, *(schema.get("anyOf") or [])]
    choices = [choice for kind in kinds for choice in kind.get("enum") or [] if choice != value]
    if choices:
        return rng.choice(choices)
    if isinstance(value, int):
        return value + 15
    text = str(value)
    if re.match(r"\d{4}-\d{2}-\d{2}", text):
        return f"{text[:8]}{int(text[8:10]) % 28 + 1:02d}{text[10:]}"
    if "@" in text:  # a guess, instead of what the directory said
        return re.sub(r"\.\w+@", "@", text)
    return " ".join(text.split()[:-1]) or text + "s"


def _with(call: Call, name: str, value: Any) -> Call:
    return Call(call.name, {**call.arguments, name: value})
