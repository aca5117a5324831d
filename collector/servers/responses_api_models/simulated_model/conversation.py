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
    """A call that was made and what came of it; no call if its arguments were not JSON."""

    call: Call | None
    output: Any


@dataclass(frozen=True)
class Conversation:
    """What the policy sees."""

    instructions: str
    request: str
    steps: Sequence[Step]
    tools: dict[str, Row]


def read(request: Row) -> Conversation:
    """Take a request apart; raise ModelError if it is none."""
    items = _items(request.get("input"))
    told = [_text(item) for item in items if item.get("role") in ("system", "developer")]
    last = max((n for n, item in enumerate(items) if item.get("role") == "user"), default=-1)
    return Conversation(
        instructions="\n".join([str(request.get("instructions") or ""), *told]),
        request=_text(items[last]) if last >= 0 else "",
        steps=_steps(items[last + 1 :]),
        tools={} if request.get("tool_choice") == "none" else _tools(request.get("tools")),
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
    outputs = {
        str(item.get("call_id")): item.get("output")
        for item in items
        if item.get("type") == "function_call_output"
    }
    return [
        Step(_call(item), _output(outputs[str(item.get("call_id"))]))
        for item in items
        if item.get("type") == "function_call" and str(item.get("call_id")) in outputs
    ]


def _call(item: Row) -> Call | None:
    try:
        arguments = json.loads(str(item.get("arguments")))
    except (ValueError, RecursionError):
        return None
    return Call(str(item.get("name")), arguments) if isinstance(arguments, dict) else None


def _output(text: Any) -> Any:
    """Return what a tool said; NeMo Gym's servers wrap it as `output`."""
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError):
        return {"error": str(text)}
    return found["output"] if isinstance(found, dict) and "output" in found else found


def _tools(given: Any) -> dict[str, Row]:
    tools = given if isinstance(given, list) else []
    return {
        str(tool["name"]): tool.get("parameters") or {}
        for tool in tools
        if isinstance(tool, dict) and tool.get("type") == "function" and "name" in tool
    }
