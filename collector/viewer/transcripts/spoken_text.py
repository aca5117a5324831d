"""What the model says in a rollout, as one text to search in: its messages and its tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collector.jsonl import Row
from collector.viewer.transcripts.items import ARGUMENTS, conversation_items, is_result
from collector.viewer.transcripts.text_limits import parse_json

AROUND_CHARS = 60
SPEAKERS = (None, "assistant")
ESCAPES = re.compile(r'\\(["nt])')


def spoken_text(row: Row) -> str:
    """Return the model's messages and tool calls with single spaces; without its reasoning."""
    items = (item.value for item in conversation_items(row) if not item.is_input)
    return " ".join(" ".join(text for value in items for text in _texts(value)).split())


def searchable(text: str) -> str:
    """Return a text as it is compared: upper and lower case and all white space are the same."""
    return " ".join(text.split()).casefold()


@dataclass(frozen=True)
class Excerpt:
    """A place in a text, with what is before and after it."""

    before: str
    found: str
    after: str


def excerpt(text: str, query: str) -> Excerpt | None:
    """Return the first place of a query in a text, or None if the text does not contain it."""
    found = re.search(re.escape(" ".join(query.split())), text, re.IGNORECASE)
    if not found:
        return None
    start, end = max(0, found.start() - AROUND_CHARS), found.end() + AROUND_CHARS
    before = ("…" if start else "") + text[start : found.start()]
    after = text[found.end() : end] + ("…" if end < len(text) else "")
    return Excerpt(before, found[0], after)


def _texts(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield value if isinstance(value, str) else _json(value)
        return
    kind = value.get("type", "message")
    if kind == "message" and value.get("role") in SPEAKERS:
        yield from _content_texts(value.get("content"))
    elif isinstance(kind, str) and kind in ARGUMENTS:
        given = value.get(ARGUMENTS[kind])
        yield from (value["name"],) if isinstance(value.get("name"), str) else ()
        yield _json(parse_json(given)) if parse_json(given) is not None else str(given or "")
    elif kind not in ("message", "reasoning") and not is_result(kind):
        yield _json(value)


def _content_texts(content: Any) -> Iterator[str]:
    for one in content if isinstance(content, list) else [content]:
        text = one.get("text", one.get("refusal")) if isinstance(one, dict) else one
        if isinstance(text, str):
            yield text


def _json(value: Any) -> str:
    """Return data as JSON that reads as on a page: quotes and line ends in texts are plain."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return ""
    return ESCAPES.sub(lambda match: '"' if match[1] == '"' else " ", text)
