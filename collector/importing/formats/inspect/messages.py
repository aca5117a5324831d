"""Turn Inspect's chat messages into items of the Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from collector.importing.attempts import Json
from collector.importing.json_values import items
from collector.importing.messages import call_item, reasoning_item
from collector.jsonl import dump

ATTACHMENTS = ("attachment://", "tc://")
KEPT = ("error", "parse_error")


def attachment_names(value: Any) -> Iterator[str]:
    """Give the names of the attachments that a value refers to."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and one.startswith(ATTACHMENTS):
            yield one.partition("://")[2]
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()


def resolve(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return a value with its attachments in place; an unknown one stays a reference."""
    if isinstance(value, str):
        if value.startswith(ATTACHMENTS):
            return attachments.get(value.partition("://")[2], value)
        return value
    if isinstance(value, list):
        return [resolve(one, attachments) for one in value]
    if isinstance(value, dict):
        return {name: resolve(one, attachments) for name, one in value.items()}
    return value


def split_prompt(messages: list[Json], given: Any) -> tuple[list[Json], list[Json]]:
    """Part the messages that the model was first asked with from those that followed.

    `given` is the input of the sample: its messages belong to the prompt, whoever speaks in them.
    """
    asked = given if isinstance(given, list) else []
    known = {dump([one.get("role"), one.get("content")]) for one in asked if isinstance(one, dict)}
    for number, message in enumerate(messages):
        role = message.get("role")
        is_given = (
            role in ("system", "developer", "user")
            or message.get("source") == "input"
            or dump([role, message.get("content")]) in known
        )
        if not is_given:
            return messages[:number], messages[number:]
    return messages, []


def items_of(messages: list[Json]) -> list[Json]:
    """Return messages as items."""
    return [item for message in messages for item in _items(message)]


def _items(message: Json) -> Iterator[Json]:
    """Give the items of one message: what the model wrote in its order, or the result of a call."""
    role = message.get("role")
    if role == "tool":
        yield _result(message)
        return
    if role != "assistant":
        parts = [_input_part(part) for part in _parts(message)]
        yield {"type": "message", "role": str(role), "content": parts}
        return
    calls = items(message, "tool_calls")
    written = list(_written(_parts(message)))
    yield from written
    if not calls and all(item["type"] != "message" for item in written):
        yield _reply([part for part in _parts(message) if _kind(part) == "text"])
    for call in calls:
        yield _call(call if isinstance(call, dict) else {"arguments": call})


def _written(parts: list[Json]) -> Iterator[Json]:
    """Give reasoning, texts and the calls that the provider made itself, in the order written."""
    for kind, group in groupby(parts, key=_kind):
        same = list(group)
        if kind == "reasoning":
            yield from map(_reasoning, same)
        elif kind == "tool_use":
            yield from map(_server_call, same)
        elif any(part.get("text") != "" for part in same):
            yield _reply(same)


def _kind(part: Json) -> str:
    """Return what a part becomes: adjacent texts and images are one message."""
    kind = part.get("type")
    return kind if kind in ("reasoning", "tool_use") else "text"


def _reply(parts: list[Json]) -> Json:
    content = [_output_part(part) for part in parts]
    return {"type": "message", "role": "assistant", "content": content}


def tools_of(event: Json, attachments: Mapping[str, str]) -> list[Json]:
    """Return the tools that a call of the model was given."""
    tools = [tool for tool in items(event, "tools") if isinstance(tool, dict)]
    return [
        {
            "type": "function",
            "name": tool.get("name"),
            "description": resolve(tool.get("description"), attachments),
            "parameters": resolve(tool.get("parameters"), attachments),
        }
        for tool in tools
    ]


def _parts(message: Json) -> list[Json]:
    content = message.get("content")
    if isinstance(content, list):
        return [one if isinstance(one, dict) else {"type": "text", "text": one} for one in content]
    return [{"type": "text", "text": "" if content is None else content}]


def _input_part(part: Json) -> Json:
    kind = part.get("type")
    if kind == "text":
        return {"type": "input_text", "text": part.get("text")}
    if kind == "image":
        detail = {"detail": part["detail"]} if part.get("detail") else {}
        return {"type": "input_image", "image_url": part.get("image"), **detail}
    if kind == "document":
        return {
            "type": "input_file",
            "file_data": part.get("document"),
            "filename": part.get("filename"),
        }
    if kind == "audio":
        sound = {"data": part.get("audio"), "format": part.get("format")}
        return {"type": "input_audio", "input_audio": sound}
    return part


def _output_part(part: Json) -> Json:
    if part.get("type") != "text":
        return _input_part(part)
    if part.get("refusal") is True:
        return {"type": "refusal", "refusal": part.get("text")}
    return {
        "type": "output_text",
        "text": part.get("text"),
        "annotations": part.get("citations") or [],
    }


def _reasoning(part: Json) -> Json:
    text = str(part.get("reasoning") or "")
    summary = [{"type": "summary_text", "text": part["summary"]}] if part.get("summary") else []
    if part.get("redacted"):
        return {"type": "reasoning", "summary": summary, "encrypted_content": text}
    return {**reasoning_item(text), "summary": summary}


def _server_call(part: Json) -> Json:
    """Return a call that the provider of the model made itself, with its result."""
    kind = str(part.get("tool_type") or "tool").removesuffix("_call")
    return {
        **{name: value for name, value in part.items() if name not in ("type", "tool_type")},
        "type": f"{kind}_call",
    }


def _call(call: Json) -> Json:
    item = call_item(call.get("id"), str(call.get("function") or ""), call.get("arguments") or {})
    return {**item, **{name: call[name] for name in KEPT if call.get(name)}}


def _result(message: Json) -> Json:
    """Return the result of a call; an error without a text is what the model was told instead."""
    content = message.get("content")
    error = message.get("error")
    output: Any = content
    if isinstance(content, list):
        output = [_input_part(part) for part in _parts(message)]
    elif not content:
        output = str(error.get("message") or "") if isinstance(error, dict) else ""
    return {
        "type": "function_call_output",
        "call_id": str(message.get("tool_call_id") or ""),
        "output": output,
        **{name: message[name] for name in KEPT if message.get(name)},
    }
