"""Replay the solution of a task step by step, with slips as models make them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from collector.servers.responses_api_models.simulated_model.conversation import (
    Call,
    Conversation,
    Step,
)
from collector.servers.responses_api_models.simulated_model.solutions import Solution

ENDINGS = (
    "Everything is done.", "Done.", "That is all done now.", "I have done what you asked for.",
    "All of it is done.", "Done, nothing is left.", "This is finished.", "It is done as you asked.",
)  # fmt: skip
THOUGHTS = (
    "The next thing I need is {}.",
    "Now I call {}.",
    "For this there is {}.",
    "It is time for {}.",
    "What follows is {}.",
)
UNKNOWN = (
    "I am a simulated model and do not know this task: it is in none of the files that I learned "
    "from. Name its file in my config, under tasks."
)
# an answer without calls takes as much thought as some calls do
ANSWER_STEPS = 3
# shares of tasks that are never, and nearly always, got wrong
SAFE_SHARE = 0.15
HARD_SHARE = 0.08
HARD_WEIGHT = 6.0
GROWTH = 0.35
MAX_CHANCE = 0.95
NUMBER = re.compile(r"-?\d{1,300}(/0*[1-9]\d{0,300}|\.\d{1,300})?")


@dataclass(frozen=True)
class Turn:
    """A message, or a call with its arguments as text; and what was thought before."""

    text: str = ""
    tool: str | None = None
    arguments: str = ""
    thought: str = ""

    @property
    def content(self) -> str:
        """Return what is said or called, without the thought."""
        return self.text if self.tool is None else self.tool + self.arguments


@dataclass(frozen=True)
class Risk:
    """What makes slips likely: the rate, the temperature, and the task itself."""

    rate: float
    temperature: float
    request: str

    def chance(self, step: int) -> float:
        """Return how likely a slip is in the step of that number."""
        warmth = 0.2 + 0.8 * self.temperature
        return min(MAX_CHANCE, self.rate * _weight(self.request) * warmth * (1 + GROWTH * step))


def decide(
    conversation: Conversation, solutions: Mapping[str, Solution], risk: Risk, rng: Random
) -> Turn:
    """Go one step further with the solution, or slip; say so if the task is not known."""
    solution = solutions.get(conversation.request)
    if solution is None:
        return _saying(UNKNOWN)
    if solution.answer is not None:
        return _answering(solution.answer, risk, rng)
    left = _left(solution.calls, conversation.steps)
    if not left:
        return _ending(rng)
    if left[0].name not in conversation.tools:
        return _saying(f"I cannot do this: I am not offered the tool {left[0].name}.")
    if rng.random() < risk.chance(len(conversation.steps)):
        return _slipping(left, rng)
    return _calling(left[0], rng)


def _left(calls: Sequence[Call], steps: Sequence[Step]) -> Sequence[Call]:
    """Return the calls that are still to be made after these steps."""
    place = 0
    for step in steps:
        if step.call is None:  # its arguments were not JSON: the call is made again
            continue
        was_left_out = step.call not in calls[place : place + 1]
        # a call that fits the one after the next means that the next was forgotten
        place += 2 if was_left_out and step.call in calls[place + 1 : place + 2] else 1
    return calls[place:]


def _slipping(left: Sequence[Call], rng: Random) -> Turn:
    """Take a wrong record or value, forget a step, break the arguments, or stop early."""
    call, *later = left
    kind = rng.choice(("wrong", "wrong", "wrong", "forgotten", "broken", "early"))
    if kind == "wrong":
        return _calling(_wrong(call, rng), rng)
    if kind == "broken":
        turn = _calling(call, rng)
        return Turn(tool=turn.tool, arguments=turn.arguments[:-1], thought=turn.thought)
    return _calling(later[0], rng) if kind == "forgotten" and later else _ending(rng)


def _wrong(call: Call, rng: Random) -> Call:
    """Get one argument wrong: mostly the record, where there is one."""
    ids = [name for name in call.arguments if name.endswith("_id")]
    names = ids if ids and rng.random() < 0.7 else list(call.arguments)
    if not names:
        return call
    name = rng.choice(names)
    return Call(call.name, {**call.arguments, name: _other(call.arguments[name], rng)})


def _other(value: Any, rng: Random) -> Any:
    if isinstance(value, (int, float)):
        return value + 1
    text = str(value)
    digits = list(re.finditer(r"\d+", text))
    if digits:  # the neighbour of an id, another day, another amount
        found = rng.choice(digits)
        number = str(int(found[0][-9:]) + rng.choice((1, 2, 3))).zfill(len(found[0]))
        return text[: found.start()] + number + text[found.end() :]
    return " ".join(text.split()[:-1]) or text + "s"


def _answering(answer: str, risk: Risk, rng: Random) -> Turn:
    if not any(rng.random() < risk.chance(step) for step in range(ANSWER_STEPS)):
        return _saying(f"I worked this out step by step.\n\nAnswer: {answer}")
    if rng.random() < 0.1:  # right, but not in the form that was asked for
        return _saying(f"This makes {answer}.")
    return _saying(f"I see this at once.\n\nAnswer: {_wrong_answer(answer, rng)}")


def _wrong_answer(answer: str, rng: Random) -> Any:
    if not NUMBER.fullmatch(answer):
        return _other(answer, rng)
    number = Fraction(answer)
    return rng.choice((number + 1, number - 1, number + 10, number - 10, number + 100))


def _calling(call: Call, rng: Random) -> Turn:
    thought = rng.choice(THOUGHTS).format(call.name)
    return Turn(tool=call.name, arguments=json.dumps(call.arguments), thought=thought)


def _ending(rng: Random) -> Turn:
    return _saying(rng.choice(ENDINGS))


def _saying(text: str) -> Turn:
    return Turn(text=text, thought="Nothing is left for me to call, so I answer.")


def _weight(request: str) -> float:
    """Return how hard a task is for this policy, always the same for the same text."""
    digest = hashlib.sha256(request.encode("utf-8", "replace")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < SAFE_SHARE:
        return 0.0
    if place > 1 - HARD_SHARE:
        return HARD_WEIGHT
    return 2.0 * (place - SAFE_SHARE) / (1 - SAFE_SHARE - HARD_SHARE)
