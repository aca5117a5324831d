"""The input row of a task: only what the question consists of, since its hash is the task's id."""

from __future__ import annotations

from typing import Any

from collector.importing.attempts import Json
from collector.jsonl import dump

ANSWER = "expected_answer"


def asked_row(messages: list[Json] | str, *, answer: Any = None) -> Json:
    """Return an input row of messages, or of a text that a user asks, and the right answer.

    The same question from two frameworks gives the same row: a message has a role and a content, a
    content of text alone is a text, and an answer is a text.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    row: Json = {"responses_create_params": {"input": [_plain(one) for one in messages]}}
    if answer is not None and answer not in ("", []):
        row[ANSWER] = answer if isinstance(answer, str) else dump(answer).decode()
    return row


def _plain(message: Json) -> Json:
    """Return a message without ids, and with the type left out where it is the usual one."""
    kept = {name: value for name, value in message.items() if name not in ("id", "status")}
    if kept.get("type") == "message":
        del kept["type"]
    content = kept.get("content")
    if isinstance(content, list) and content and all(map(_is_text, content)):
        kept["content"] = "\n".join(part["text"] for part in content)
    return kept


def _is_text(part: Any) -> bool:
    texts = ("input_text", "output_text", "text")
    return (
        isinstance(part, dict) and part.get("type") in texts and isinstance(part.get("text"), str)
    )
