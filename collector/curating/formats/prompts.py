"""Read the prompt of a row or a rollout as chat messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collector.chat_messages import TranslationError, chat_messages, chat_tools
from collector.curating.formats.fields import PROMPT_FIELD, find_field
from collector.jsonl import Row

PARAMS = "responses_create_params"


@dataclass(frozen=True)
class ChatPrompt:
    """What a model is given: messages, and the tools that it may call."""

    messages: list[Row]
    tools: list[Row]


def read_prompt(row: Row, path: str | None = None) -> ChatPrompt:
    """Return the prompt of a row; raise TranslationError if it has no chat messages.

    The instructions of the request come first, as a system message.
    """
    params: Any = row.get(PARAMS)
    params = params if isinstance(params, dict) else {}
    value = find_field(row, path or PROMPT_FIELD)
    if value is None:
        raise TranslationError(f"there is no {path or PROMPT_FIELD}")
    messages = read_messages(value, params.get("instructions"))
    if not messages:
        raise TranslationError("the prompt has no messages")
    return ChatPrompt(messages, chat_tools(params.get("tools") or []))


def read_messages(items: Any, instructions: Any = None) -> list[Row]:
    """Return items as chat messages; the text parts of a message become one text."""
    messages = chat_messages(items, instructions)
    for message in messages:
        content = message["content"]
        if isinstance(content, list) and all(part["type"] == "text" for part in content):
            message["content"] = "\n".join(part["text"] for part in content)
    return messages
