"""Turn the steps of an ATIF trajectory into items of the Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.importing.attempts import Json
from collector.importing.json_values import items, part, text
from collector.importing.messages import call_item, chat_items, reasoning_item, result_item

ROLES = {"agent": "assistant", "user": "user", "system": "system"}
SUBAGENTS = "subagent_trajectory_ref"


def step_items(steps: list[Any]) -> list[Json]:
    """Return what happened in the steps, in order."""
    return [item for step in steps if isinstance(step, dict) for item in _items(step)]


def _items(step: Json) -> Iterator[Json]:
    role = ROLES.get(str(step.get("source")), "user")
    calls = [call for call in items(step, "tool_calls") if isinstance(call, dict)]
    if thought := text(step.get("reasoning_content")):
        yield reasoning_item(thought)
    if step.get("message") or not calls:
        yield from chat_items([{"role": role, "content": _content(step.get("message"))}])
    for call in calls:
        name = str(call.get("function_name") or "")
        raw = part(call, "extra").get("raw_arguments")  # what `spotter export` could not parse
        yield call_item(call.get("tool_call_id"), name, raw or call.get("arguments", ""))
    results = [one for one in items(part(step, "observation"), "results") if isinstance(one, dict)]
    for number, result in enumerate(results):
        call_id = result.get("source_call_id")
        if call_id is None and len(calls) == len(results):  # nothing else can be meant
            call_id = calls[number].get("tool_call_id")
        item = result_item(call_id, _content(result.get("content")))
        yield {**item, **({SUBAGENTS: result[SUBAGENTS]} if result.get(SUBAGENTS) else {})}


def _content(content: Any) -> Any:
    """Return a content with its images in the form of a chat."""
    if not isinstance(content, list):
        return content
    return [_image(one) if _is_image(one) else one for one in content]


def _is_image(one: Any) -> bool:
    return isinstance(one, dict) and one.get("type") == "image" and bool(part(one, "source"))


def _image(one: Json) -> Json:
    return {"type": "image_url", "image_url": part(one, "source").get("path")}
