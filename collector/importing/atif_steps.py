"""Turn the steps of an ATIF trajectory into items of the Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.importing.attempts import Json
from collector.importing.messages import call_item, chat_items, reasoning_item, result_item
from collector.importing.values import items, part, text

ROLES = {"agent": "assistant", "user": "user", "system": "system"}


def step_items(steps: list[Any]) -> list[Json]:
    """Return what happened in the steps, in order."""
    return [item for step in steps if isinstance(step, dict) for item in _items(step)]


def _items(step: Json) -> Iterator[Json]:
    role = ROLES.get(str(step.get("source")), "user")
    calls = [call for call in items(step, "tool_calls") if isinstance(call, dict)]
    if thought := text(step.get("reasoning_content")):
        yield reasoning_item(thought)
    if step.get("message") or not calls:
        yield from chat_items([{"role": role, "content": step.get("message")}])
    for call in calls:
        name = str(call.get("function_name") or "")
        yield call_item(call.get("tool_call_id"), name, call.get("arguments", ""))
    for result in items(part(step, "observation"), "results"):
        if isinstance(result, dict):
            yield result_item(result.get("source_call_id"), result.get("content"))
