"""Read a Responses API request: what was asked, what was done so far, which tools there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collector.servers.responses_api_models.base import ModelError

Row = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call: a name and its arguments."""

    name: str
    arguments: Row


@dataclass(frozen=True)
class Step:
    """A call that was made and answered; none if its arguments were not JSON."""

    call: Call | None


@dataclass(frozen=True)
class Conversation:
    """What the policy sees."""

    request: str
    steps: Sequence[Step]
    tools: set[str]


def read(request: Row) -> Conversation:
    """Take a request apart; raise ModelError if it is not a request."""
    items = _items(request.get("input"))
    last = max((n for n, item in enumerate(items) if item.get("role") == "user"), default=-1)
    return Conversation(
        request=_text(items[last]) if last >= 0 else "",
        steps=_steps(items[last + 1 :]),
        tools=set() if request.get("tool_choice") == "none" else _tools(request.get("tools")),
    )


def _items(given: Any) -> list[Row]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise ModelError(400, "input must be a text or a list of items")
    return given


def _text(item: Row) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _steps(items: Sequence[Row]) -> list[Step]:
    answered = {item.get("call_id") for item in items if item.get("type") == "function_call_output"}
    return [
        Step(_call(item))
        for item in items
        if item.get("type") == "function_call" and item.get("call_id") in answered
    ]


def _call(item: Row) -> Call | None:
    try:
        arguments = json.loads(str(item.get("arguments")))
    except (ValueError, RecursionError):
        return None
    return Call(str(item.get("name")), arguments) if isinstance(arguments, dict) else None


def _tools(given: Any) -> set[str]:
    tools = given if isinstance(given, list) else []
    return {
        str(tool["name"])
        for tool in tools
        if isinstance(tool, dict) and tool.get("type") == "function" and "name" in tool
    }
