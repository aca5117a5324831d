"""The base classes of environments: tools, calls, solutions, and the environment itself."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Row = dict[str, Any]
S = TypeVar("S")


class Arguments(BaseModel):
    """The arguments of a tool; unknown arguments are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ToolError(Exception):
    """A tool failed; the model sees the message."""


@dataclass(frozen=True)
class Tool(Generic[S]):
    """A function that an agent can call."""

    name: str
    description: str
    arguments: type[Arguments] | Row
    """A pydantic model that checks the arguments, or a schema if the function checks them."""
    function: Callable[[S, Any], Any]
    """Takes the session's state and the arguments; returns data, or raises ToolError."""

    def schema(self) -> Row:
        """Return the tool as the Responses API lists it."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": _parameters_schema(self.arguments),
            "strict": not isinstance(self.arguments, dict),
        }

    def parse_arguments(self, values: Row) -> Any:
        """Return the arguments for the function; raise ValidationError if one is wrong."""
        if isinstance(self.arguments, dict):
            # some models must send every argument: null stands for an unused one
            return {name: value for name, value in values.items() if value is not None}
        return self.arguments.model_validate(values)


def _parameters_schema(arguments: type[Arguments] | Row) -> Row:
    if isinstance(arguments, dict):
        return arguments
    schema = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in about.items() if key != "title"}
        for name, about in schema.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Call:
    """A tool call: a name and its arguments."""

    name: str
    arguments: Row


@dataclass(frozen=True)
class Solution:
    """The calls and the answer of a perfect agent for a task."""

    calls: Sequence[Call] = field(default_factory=tuple)
    answer: str = "Done."


class Environment(ABC, Generic[S]):
    """An environment, whose sessions hold a state of type S that only the tools change."""

    tools: ClassVar[Sequence[Tool[Any]]] = ()
    reverify_mode: ClassVar[str] = "unknown"
    """`stateless` if `verify` works without a session, `unsupported` if not."""

    def __init__(self, settings: Row) -> None:
        """Store the settings; a subclass may check them and raise ValueError."""
        self.settings = settings

    @abstractmethod
    def new_session(self, row: Row) -> S:
        """Return the initial state for a task; raise ValueError if the row is wrong."""

    @abstractmethod
    def verify(self, row: Row, response: Row, state: S | None) -> Row:
        """Judge a response: return `reward` and any other fields; `state` is None without session.

        Return `masking.masked_verdict(kind, reason)` if the infrastructure failed, not the agent.
        """

    @abstractmethod
    def solution(self, row: Row) -> Solution:
        """Return a solution with reward 1, for the self-test."""

    def description(self) -> str:
        """Return a remark for the list of started servers, or an empty text."""
        return ""

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Generate task rows in NeMo Gym's input format, the same rows for the same seed."""
        raise NotImplementedError(f"{type(self).__name__} does not generate tasks")


def output_text(response: Row) -> str:
    """Return the text of the last message of a Responses API object."""
    for item in reversed(_dicts(response.get("output"))):
        if item.get("type") == "message":
            parts = item.get("content")
            if isinstance(parts, str):
                return parts
            texts = [part.get("text") for part in _dicts(parts)]
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def tool_calls(response: Row) -> list[Call]:
    """Return the tool calls of a response, without those whose arguments are not a JSON object."""
    calls: list[Call] = []
    for item in _dicts(response.get("output")):
        if item.get("type") != "function_call":
            continue
        try:
            arguments = json.loads(item.get("arguments") or "")
        except (TypeError, ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            calls.append(Call(str(item.get("name")), arguments))
    return calls


def _dicts(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
