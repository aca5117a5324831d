"""What an environment is made of: tools, sessions and a verdict."""

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
    """The arguments of a tool; what is not named is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ToolError(Exception):
    """A tool that could not do what was asked; the text is for the model to read."""


@dataclass(frozen=True)
class Tool(Generic[S]):
    """A function that an agent may call."""

    name: str
    description: str
    arguments: type[Arguments] | Row
    """Their model, which checks them, or the schema of arguments that the function checks."""
    function: Callable[[S, Any], Any]
    """Take the session's state and the arguments; return data, or raise ToolError."""

    def schema(self) -> Row:
        """Return the tool as the Responses API lists it."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": _parameters(self.arguments),
            "strict": not isinstance(self.arguments, dict),
        }

    def checked(self, given: Row) -> Any:
        """Return the arguments for the function; raise ValidationError if one is wrong."""
        if isinstance(self.arguments, dict):
            # a model that must name every argument sends null for those it does not use
            return {name: value for name, value in given.items() if value is not None}
        return self.arguments.model_validate(given)


def _parameters(arguments: type[Arguments] | Row) -> Row:
    if isinstance(arguments, dict):
        return arguments
    found = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in about.items() if key != "title"}
        for name, about in found.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": found.get("required", []),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Call:
    """A tool call: a name and its arguments."""

    name: str
    arguments: Row


@dataclass(frozen=True)
class Solution:
    """What a perfect agent does with a task."""

    calls: Sequence[Call] = field(default_factory=tuple)
    answer: str = "Done."


class Environment(ABC, Generic[S]):
    """An environment: its sessions hold a state of type S that only its tools change."""

    tools: ClassVar[Sequence[Tool[Any]]] = ()
    reverify_mode: ClassVar[str] = "unknown"
    """`stateless` if a verdict needs no session, `unsupported` if it does."""

    def __init__(self, settings: Row) -> None:
        """Check the settings; raise ValueError if one is wrong."""
        self.settings = settings

    @abstractmethod
    def new_session(self, row: Row) -> S:
        """Return the state that a task begins with."""

    @abstractmethod
    def verify(self, row: Row, response: Row, state: S | None) -> Row:
        """Judge a response: return `reward` and any other fields; state is None without session.

        Return `masking.masked(kind, reason)` if there is nothing to judge: something else failed.
        """

    @abstractmethod
    def solution(self, row: Row) -> Solution:
        """Return what scores 1, for the self-test."""

    def description(self) -> str:
        """Say what is good to know when its server starts, if anything is."""
        return ""

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Make task rows in NeMo Gym's input format, the same ones for the same seed."""
        raise NotImplementedError(f"{type(self).__name__} makes no tasks")


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


def calls_of(response: Row) -> list[Call]:
    """Return the tool calls of a response whose arguments are JSON objects."""
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
