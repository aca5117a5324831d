"""Parse a Responses API request into the prompt, the calls made so far, and the offered tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collector.servers.resources_servers.environment import Call
from collector.servers.responses_api_models.base import ModelError

Row = dict[str, Any]


@dataclass(frozen=True)
class ParsedRequest:
    """The parts of a request that the policy needs."""

    prompt: str
    """The last user message."""
    steps: Sequence[Call | None]
    """The answered calls since the prompt; None where the arguments were not a JSON object."""
    tools: set[str]


def parse_request(request: Row) -> ParsedRequest:
    """Return the parts of a request; raise ModelError if its input is malformed."""
    items = _items(request.get("input"))
    last = max((n for n, item in enumerate(items) if item.get("role") == "user"), default=-1)
    return ParsedRequest(
        prompt=_text(items[last]) if last >= 0 else "",
        steps=_steps(items[last + 1 :]),
        tools=set() if request.get("tool_choice") == "none" else _tools(request.get("tools")),
    )


def _items(value: Any) -> list[Row]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ModelError(400, "input must be text or a list of items")
    return value


def _text(item: Row) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _steps(items: Sequence[Row]) -> list[Call | None]:
    answered = {item.get("call_id") for item in items if item.get("type") == "function_call_output"}
    return [
        _call(item)
        for item in items
        if item.get("type") == "function_call" and item.get("call_id") in answered
    ]


def _call(item: Row) -> Call | None:
    try:
        arguments = json.loads(str(item.get("arguments")))
    except (ValueError, RecursionError):
        return None
    return Call(str(item.get("name")), arguments) if isinstance(arguments, dict) else None


def _tools(value: Any) -> set[str]:
    tools = value if isinstance(value, list) else []
    return {
        str(tool["name"])
        for tool in tools
        if isinstance(tool, dict) and tool.get("type") == "function" and "name" in tool
    }
