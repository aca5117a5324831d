"""Where a conversation stands: replay the plans over what was done, and find the next call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.servers.responses_api_models.simulated_model.conversation import Call, Row, Step
from collector.servers.responses_api_models.simulated_model.phrases import Intent
from collector.servers.responses_api_models.simulated_model.plans import Plan, StuckError
from collector.servers.responses_api_models.simulated_model.recipes import RECIPES

LOOKUPS = ("_search", "_find")


@dataclass(frozen=True)
class Progress:
    """The next call, or none when all is done; and the one after it, if that is known already."""

    call: Call | None
    following: Call | None = None
    problem: str = ""


class _Walk:
    """A plan that is walked one call at a time; arguments are made to fit the offered tools."""

    def __init__(self, intents: Sequence[Intent], tools: dict[str, Row]) -> None:
        self._plan = _joined(intents)
        self._tools = tools
        self.call: Call | None = self._fit(next(self._plan))

    def advance(self, output: object) -> None:
        """Give the plan an answer."""
        try:
            self.call = self._fit(self._plan.send(output))
        except StopIteration:
            self.call = None

    def _fit(self, call: Call) -> Call:
        return fitted(call, self._tools)


def is_lookup(call: Call) -> bool:
    """Tell whether a call only looks something up."""
    return call.name.endswith(LOOKUPS)


def progress(intents: Sequence[Intent], steps: Sequence[Step], tools: dict[str, Row]) -> Progress:
    """Return how the plans go on after these steps."""
    try:
        walk = _Walk(intents, tools)
        for step in steps:
            if step.call is not None:  # a call that was no JSON is made again
                _take(walk, step)
        call = walk.call
    except StuckError as error:
        return Progress(None, problem=str(error))
    return Progress(call, following=_peek(walk) if call and not is_lookup(call) else None)


def fitted(call: Call, tools: dict[str, Row]) -> Call:
    """Complete the arguments as the offered schema asks, or say what is missing."""
    schema = tools.get(call.name)
    if schema is None:
        raise StuckError(f"I would need a tool {call.name}, which I do not have")
    properties = schema.get("properties") or {}
    unknown = call.arguments.keys() - properties.keys()
    missing = [name for name in schema.get("required") or [] if name not in call.arguments]
    if unknown or not all(_may_be_null(properties.get(name) or {}) for name in missing):
        raise StuckError(f"the tool {call.name} takes other arguments than I know")
    return Call(call.name, {**call.arguments, **dict.fromkeys(missing)})


def _may_be_null(schema: Row) -> bool:
    kinds = [schema.get("type"), *(kind.get("type") for kind in schema.get("anyOf") or [])]
    return any(kind == "null" or (isinstance(kind, list) and "null" in kind) for kind in kinds)


def _joined(intents: Sequence[Intent]) -> Plan:
    for intent in intents:
        yield from RECIPES[intent.kind].plan(intent.slots)


def _take(walk: _Walk, step: Step) -> None:
    """Let a step count for the planned call; one that fits the call after it was left out."""
    if walk.call is None:
        return
    planned = walk.call
    walk.advance(step.output if step.call == planned or is_lookup(planned) else {})
    if step.call != planned and step.call == walk.call:
        walk.advance(step.output)


def _peek(walk: _Walk) -> Call | None:
    try:
        walk.advance({})
    except StuckError:
        return None
    return walk.call
