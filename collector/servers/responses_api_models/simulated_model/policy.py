"""Replay the solution of a task step by step, with mistakes as models make them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from collector.servers.resources_servers.environment import Call
from collector.servers.responses_api_models.simulated_model.request_parsing import ParsedRequest
from collector.servers.responses_api_models.simulated_model.solutions import LearnedSolution

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
# an answer without calls is as risky as this many calls
ANSWER_STEPS = 3
# the shares of tasks that the model always solves, and nearly never solves
SAFE_SHARE = 0.15
HARD_SHARE = 0.08
HARD_DIFFICULTY = 6.0
GROWTH = 0.35
MAX_CHANCE = 0.95
NUMBER = re.compile(r"-?\d{1,300}(/0*[1-9]\d{0,300}|\.\d{1,300})?")


@dataclass(frozen=True)
class ModelTurn:
    """A message, or a call with its arguments as text, and the reasoning before it."""

    text: str = ""
    tool: str | None = None
    arguments: str = ""
    thought: str = ""

    @property
    def content(self) -> str:
        """Return the message or the call as text, without the reasoning."""
        return self.text if self.tool is None else self.tool + self.arguments


@dataclass(frozen=True)
class Risk:
    """The inputs that make a mistake likely: the rate, the temperature, and the prompt."""

    rate: float
    temperature: float
    prompt: str

    def chance(self, step: int) -> float:
        """Return the probability of a mistake in a step, counted from 0."""
        warmth = 0.2 + 0.8 * self.temperature
        return min(MAX_CHANCE, self.rate * _difficulty(self.prompt) * warmth * (1 + GROWTH * step))


def next_turn(
    request: ParsedRequest, solutions: Mapping[str, LearnedSolution], risk: Risk, rng: Random
) -> ModelTurn:
    """Return the next step of the solution, a mistake, or a message that the task is unknown."""
    solution = solutions.get(request.prompt)
    if solution is None:
        return _message_turn(UNKNOWN)
    if solution.answer is not None:
        return _answer_turn(solution.answer, risk, rng)
    calls = _remaining_calls(solution.calls, request.steps)
    if not calls:
        return _final_turn(rng)
    if calls[0].name not in request.tools:
        return _message_turn(f"I cannot do this: I am not offered the tool {calls[0].name}.")
    if rng.random() < risk.chance(len(request.steps)):
        return _slip_turn(calls, rng)
    return _call_turn(calls[0], rng)


def _remaining_calls(calls: Sequence[Call], steps: Sequence[Call | None]) -> Sequence[Call]:
    """Return the calls of a solution that are still missing after these steps."""
    position = 0
    for call in steps:
        if call is None:  # its arguments were not JSON: repeat the call
            continue
        is_other = call not in calls[position : position + 1]
        # the call after the next one means that the model forgot the next one
        position += 2 if is_other and call in calls[position + 1 : position + 2] else 1
    return calls[position:]


def _slip_turn(calls: Sequence[Call], rng: Random) -> ModelTurn:
    """Return a mistake: a wrong record or value, a forgotten call, broken JSON, or an early end."""
    call, *later = calls
    kind = rng.choice(("wrong", "wrong", "wrong", "forgotten", "broken", "early"))
    if kind == "wrong":
        return _call_turn(_wrong_call(call, rng), rng)
    if kind == "broken":
        turn = _call_turn(call, rng)
        return ModelTurn(tool=turn.tool, arguments=turn.arguments[:-1], thought=turn.thought)
    return _call_turn(later[0], rng) if kind == "forgotten" and later else _final_turn(rng)


def _wrong_call(call: Call, rng: Random) -> Call:
    """Return the call with one wrong argument: mostly the record, if there is one."""
    ids = [name for name in call.arguments if name.endswith("_id")]
    names = ids if ids and rng.random() < 0.7 else list(call.arguments)
    if not names:
        return call
    name = rng.choice(names)
    return Call(call.name, {**call.arguments, name: _wrong_value(call.arguments[name], rng)})


def _wrong_value(value: Any, rng: Random) -> Any:
    if isinstance(value, (int, float)):
        return value + 1
    text = str(value)
    digits = list(re.finditer(r"\d+", text))
    if digits:  # a neighbouring id, another day, another amount
        match = rng.choice(digits)
        number = str(int(match[0][-9:]) + rng.choice((1, 2, 3))).zfill(len(match[0]))
        return text[: match.start()] + number + text[match.end() :]
    return " ".join(text.split()[:-1]) or text + "s"


def _answer_turn(answer: str, risk: Risk, rng: Random) -> ModelTurn:
    if not any(rng.random() < risk.chance(step) for step in range(ANSWER_STEPS)):
        return _message_turn(f"I worked this out step by step.\n\nAnswer: {answer}")
    if rng.random() < 0.1:  # right, but not in the form that the task asks for
        return _message_turn(f"This makes {answer}.")
    return _message_turn(f"I see this at once.\n\nAnswer: {_wrong_answer(answer, rng)}")


def _wrong_answer(answer: str, rng: Random) -> Any:
    if not NUMBER.fullmatch(answer):
        return _wrong_value(answer, rng)
    number = Fraction(answer)
    return rng.choice((number + 1, number - 1, number + 10, number - 10, number + 100))


def _call_turn(call: Call, rng: Random) -> ModelTurn:
    thought = rng.choice(THOUGHTS).format(call.name)
    return ModelTurn(tool=call.name, arguments=json.dumps(call.arguments), thought=thought)


def _final_turn(rng: Random) -> ModelTurn:
    return _message_turn(rng.choice(ENDINGS))


def _message_turn(text: str) -> ModelTurn:
    return ModelTurn(text=text, thought="Nothing is left for me to call, so I answer.")


def _difficulty(prompt: str) -> float:
    """Return the difficulty of a task for this policy, always the same for the same prompt."""
    digest = hashlib.sha256(prompt.encode("utf-8", "replace")).digest()
    rank = int.from_bytes(digest[:8], "big") / 2**64
    if rank < SAFE_SHARE:
        return 0.0
    if rank > 1 - HARD_SHARE:
        return HARD_DIFFICULTY
    return 2.0 * (rank - SAFE_SHARE) / (1 - SAFE_SHARE - HARD_SHARE)
