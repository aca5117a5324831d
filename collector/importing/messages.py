"""Translate chat messages into items of the Responses API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from collector.importing.attempts import Json
from collector.jsonl import dump

REASONING = ("reasoning_content", "reasoning")


def chat_items(messages: Iterable[Any]) -> list[Json]:
    """Return the items of chat messages; anything that is not a chat message is kept as text."""
    return [item for message in messages for item in _items(message)]


def text_message(role: str, text: str) -> Json:
    """Return a message of one text."""
    if role == "assistant":
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {"type": "message", "role": role, "content": content}
    return {"type": "message", "role": role, "content": text}


def reasoning_item(text: str) -> Json:
    """Return an item of reasoning."""
    content = [{"type": "reasoning_text", "text": text}]
    return {"type": "reasoning", "summary": [], "content": content}


def call_item(call_id: str | None, name: str, arguments: Any) -> Json:
    """Return a call of a tool; arguments that are not a text become JSON."""
    text = arguments if isinstance(arguments, str) else dump(arguments).decode()
    return {"type": "function_call", "call_id": call_id or "", "name": name, "arguments": text}


def result_item(call_id: str | None, output: Any) -> Json:
    """Return the result of a tool."""
    if isinstance(output, list):
        output = [_part(part, "user") for part in output]
    elif not isinstance(output, str):
        output = "" if output is None else dump(output).decode()
    return {"type": "function_call_output", "call_id": call_id or "", "output": output}


def _items(message: Any) -> Iterator[Json]:
    if not isinstance(message, dict):
        yield text_message("user", message if isinstance(message, str) else dump(message).decode())
        return
    role = str(message.get("role") or "user")
    if role == "tool":
        yield result_item(message.get("tool_call_id"), message.get("content"))
        return
    thought = next((message[name] for name in REASONING if message.get(name)), None)
    if isinstance(thought, str):
        yield reasoning_item(thought)
    calls = [call for call in message.get("tool_calls") or [] if isinstance(call, dict)]
    if message.get("content") or not calls:
        yield _message(role, message.get("content"))
    for call in calls:
        yield _call(call)


def _message(role: str, content: Any) -> Json:
    if isinstance(content, list):
        parts = [_part(part, role) for part in content]
        return {"type": "message", "role": role, "content": parts}
    if content is None or isinstance(content, str):
        return text_message(role, content or "")
    return text_message(role, dump(content).decode())


def _part(part: Any, role: str) -> Json:
    """Return a part of a content in the form of the Responses API; unknown ones as they are."""
    kind = "output_text" if role == "assistant" else "input_text"
    if isinstance(part, str):
        return {"type": kind, "text": part}
    if not isinstance(part, dict):
        return {"type": kind, "text": dump(part).decode()}
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return {"type": kind, "text": part["text"]}
    image = part.get("image_url")
    if part.get("type") == "image_url":
        url = image.get("url") if isinstance(image, dict) else image
        return {"type": "input_image", "image_url": url}
    return part


def _call(call: Json) -> Json:
    function = call.get("function")
    known: Json = function if isinstance(function, dict) else call
    name = known.get("name")
    return call_item(call.get("id"), str(name or ""), known.get("arguments", ""))
