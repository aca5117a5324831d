"""Translate items and tools of the Responses API into those of Chat Completions."""

from __future__ import annotations

from typing import Any

from collector.jsonl import Row

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
TEXTS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
}
FILE_FIELDS = ("file_data", "file_id", "filename")
TOOL_FIELDS = ("name", "description", "parameters", "strict")


class TranslationError(ValueError):
    """An item, a part of a message or a tool has no counterpart in Chat Completions."""


def chat_messages(items: Any, instructions: Any = None) -> list[Row]:
    """Return the instructions and a text or a list of items as messages.

    Raise TranslationError if an item has no translation.
    """
    builder = _MessageBuilder()
    if instructions is not None:
        builder.add({"role": "system", "content": instructions})
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list):
        raise TranslationError("input is neither text nor a list")
    for item in items:
        builder.add(item)
    return builder.messages


def chat_tools(tools: Any) -> list[Row]:
    """Return the tools in the form of Chat Completions; raise TranslationError if one has none."""
    if not isinstance(tools, list):
        raise TranslationError("tools is not a list")
    return [_chat_tool(tool) for tool in tools]


class _MessageBuilder:
    """Builds messages; adjacent reasoning, text and calls of the assistant become one message."""

    def __init__(self) -> None:
        self.messages: list[Row] = []
        self._thoughts: list[str] = []

    def add(self, item: Any) -> None:
        if not isinstance(item, dict):
            raise TranslationError("an input item is not an object")
        kind = item.get("type") or ("message" if "role" in item else None)
        if kind == "reasoning":
            self._thoughts.append(_thought(item))
        elif kind == "function_call":
            self._add_call(item)
        elif kind == "function_call_output":
            call_id = _text(item, "call_id")
            content = _content(item.get("output"), "tool")
            self.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
        elif kind == "message":
            self._add_message(item)
        else:
            raise TranslationError(f"an input item of type {_shorten(kind)} has no translation")

    def _add_message(self, item: Row) -> None:
        role = ROLES.get(str(item.get("role")))
        if role is None:
            raise TranslationError(f"a message has the role {_shorten(item.get('role'))}")
        content = _content(item.get("content"), role)
        last = self.messages[-1] if self.messages else {}
        if role == "assistant" and "tool_calls" in last:
            # only the outputs of the calls may follow the calls
            last["content"] = "\n".join(filter(None, [last["content"], str(content)]))
        else:
            self.messages.append({"role": role, "content": content})
        self._end_thoughts()

    def _add_call(self, item: Row) -> None:
        function = {"name": _text(item, "name"), "arguments": _text(item, "arguments")}
        call = {"id": _text(item, "call_id"), "type": "function", "function": function}
        if not self.messages or self.messages[-1]["role"] != "assistant":
            self.messages.append({"role": "assistant", "content": None})
        self.messages[-1].setdefault("tool_calls", []).append(call)
        self._end_thoughts()

    def _end_thoughts(self) -> None:
        last = self.messages[-1]
        thoughts = [last.get("reasoning_content", ""), *self._thoughts]
        if last["role"] == "assistant" and any(thoughts):
            last["reasoning_content"] = "\n".join(filter(None, thoughts))
        self._thoughts = []


def _content(content: Any, role: str) -> str | list[Row]:
    """Return the content as text where possible, since every endpoint understands text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TranslationError(f"the content of a {role} message is neither text nor a list")
    parts = [_part(part) for part in content]
    is_text = all(part["type"] == "text" for part in parts)
    if is_text and (role != "user" or len(parts) == 1):
        return "".join(part["text"] for part in parts)
    if role == "assistant":
        raise TranslationError("the content of an assistant message is not text")
    return parts


def _part(part: Any) -> Row:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in TEXTS:
        return {"type": "text", "text": _text(part, TEXTS[kind])}
    if kind == "input_image":
        image = {"url": _text(part, "image_url")}
        return {"type": "image_url", "image_url": _with_detail(image, part)}
    if kind == "input_file":
        file = {name: part[name] for name in FILE_FIELDS if part.get(name) is not None}
        return {"type": "file", "file": file}
    if kind == "input_audio":  # the same in both APIs
        return dict(part)
    raise TranslationError(f"content of type {_shorten(kind)} has no translation")


def _with_detail(image: Row, part: Row) -> Row:
    return image if part.get("detail") is None else {**image, "detail": part["detail"]}


def _thought(item: Row) -> str:
    """Return the reasoning, or its summary; empty for encrypted reasoning."""
    parts = item.get("content") or item.get("summary") or []
    if not isinstance(parts, list):
        raise TranslationError("the content of a reasoning item is not a list")
    return "\n".join(str(_part(part).get("text", "")) for part in parts)


def _chat_tool(tool: Any) -> Row:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        kind = tool.get("type") if isinstance(tool, dict) else tool
        raise TranslationError(f"only function tools can be used, not {_shorten(kind)}")
    if "function" in tool:
        return tool
    if not isinstance(tool.get("name"), str):
        raise TranslationError("a tool has no name")
    function = {name: tool[name] for name in TOOL_FIELDS if tool.get(name) is not None}
    return {"type": "function", "function": function}


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise TranslationError(f"{name} of a {_shorten(row.get('type'))} is not text")
    return value


def _shorten(value: Any) -> str:
    return str(value)[:100]
