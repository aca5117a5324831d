"""Cuts the texts of a rollout to what a page can show, and checks that its images are safe."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass
from typing import Any

import orjson

FOLDED_CHARS = 2_000
SHOWN_CHARS = 20_000
PREVIEW_LINES = 20
PREVIEW_CHARS = 1_200
PAGE_CHARS = 400_000
LATE_CHARS = 400
IMAGE_CHARS = 2_000_000
PAGE_IMAGE_CHARS = 8_000_000
PARSED_CHARS = 1_000_000
FIELD_COUNT = 40
DEPTH = 8
LISTED = 1_000
# arrays with values for every token: only their length is shown
TOKENS = ("generation_token_ids", "prompt_token_ids", "generation_log_probs", "logprobs")
DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})")
SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")


@dataclass(frozen=True)
class Text:
    """The part of a text that a page shows: a preview, and the rest that is folded."""

    preview: str
    rest: str
    size: int
    """The number of characters of the whole text."""
    part: str
    """The JSON pointer to the text in the rollout."""
    name: str = ""
    is_code: bool = False

    @property
    def shown_text(self) -> str:
        """Return the part of the text that the page shows."""
        return self.preview + self.rest

    @property
    def is_cut(self) -> bool:
        """Tell whether the page shows only the beginning."""
        return len(self.preview) + len(self.rest) < self.size


@dataclass(frozen=True)
class Image:
    """An image to show, or a note why it is not loaded."""

    source: str
    note: str
    part: str


Piece = Text | Image


class PageBudget:
    """Cuts the texts and images of one page so that the page does not become too large."""

    def __init__(self, chars: int = PAGE_CHARS) -> None:
        """Create a budget for a page of at most `chars` characters."""
        self._chars_left = chars
        self._image_chars_left = PAGE_IMAGE_CHARS

    def text(self, value: object, part: str, *, name: str = "", limit: int = SHOWN_CHARS) -> Text:
        """Return a text, folded if it is long and cut if it is very long; data becomes JSON."""
        is_code = not isinstance(value, str)
        text = value if isinstance(value, str) else as_json(value)
        # a page with very many texts still shows the beginning of each
        is_late = min(limit, len(text)) > self._chars_left
        shown = text[: min(limit, LATE_CHARS) if is_late else limit]
        self._chars_left -= min(len(shown), self._chars_left)
        end = _preview_end(shown) if len(text) > FOLDED_CHARS else len(shown)
        return Text(shown[:end], shown[end:], len(text), part, name, is_code)

    def data_texts(self, value: object, part: str) -> list[Text]:
        """Return the arguments or the result of a tool: indented JSON, or one text per field."""
        data = parse_json(value)
        if data is None:
            return [self.text(value, part)]
        if isinstance(data, dict) and len(data) <= FIELD_COUNT and _has_escapes(data):
            return [
                self.text(
                    parse_json(one) if parse_json(one) is not None else one, part, name=str(name)
                )
                for name, one in data.items()
            ]
        return [self.text(data, part)]

    def image(self, value: object, part: str) -> Image:
        """Return an image that the rollout contains; images at other addresses are not loaded."""
        url = _address(value) if isinstance(value, dict) else value
        if not isinstance(url, str):
            return Image("", "image not loaded: it has no URL", part)
        if len(url) > min(IMAGE_CHARS, self._image_chars_left):
            return Image("", f"image not loaded: it is too large ({len(url):,} characters)", part)
        if not _is_image(url):
            return Image("", f"image not loaded: {url[:100]}{'…' if len(url) > 100 else ''}", part)
        self._image_chars_left -= len(url)
        return Image(url, "", part)


def as_json(value: object) -> str:
    """Return data as indented JSON, without arrays of tokens."""
    try:
        return orjson.dumps(without_tokens(value), option=orjson.OPT_INDENT_2).decode()
    except (
        orjson.JSONEncodeError,
        RecursionError,
    ):  # half of a surrogate pair, a large integer, deep nesting
        pass
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return "nested too deeply to show: see the raw JSON"


def without_tokens(value: Any, depth: int = 0) -> Any:
    """Replace arrays of tokens by their length."""
    if depth > DEPTH:
        return value
    if isinstance(value, list) and len(value) <= LISTED:
        return [without_tokens(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{len(one):,} values"
        if name in TOKENS and isinstance(one, list)
        else without_tokens(one, depth + 1)
        for name, one in value.items()
    }


def parse_json(value: object) -> Any:
    """Parse a text that is a JSON object or list, else return None; return non-texts unchanged."""
    if not isinstance(value, str):
        return value
    if len(value) > PARSED_CHARS or value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(value)
    except (ValueError, RecursionError):
        return None


def parse_nested_json(value: Any, depth: int = 0) -> Any:
    """Return data in which texts that are JSON objects or lists are parsed too."""
    data = parse_json(value)
    if data is None or depth > DEPTH:
        return value
    if isinstance(data, dict):
        return {name: parse_nested_json(one, depth + 1) for name, one in data.items()}
    if isinstance(data, list) and len(data) <= LISTED:
        return [parse_nested_json(one, depth + 1) for one in data]
    return data


def pointer(*keys: object) -> str:
    """Return the JSON pointer that these keys form."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def resolve_pointer(value: Any, part: str) -> Any:
    """Return the value at a JSON pointer, or the last value on its way that exists."""
    for key in part.split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10:
            if int(key) >= len(value):
                break
            value = value[int(key)]
        else:
            break
    return value


def _preview_end(text: str) -> int:
    """Return where a preview ends: after some lines, or within a very long line."""
    end = 0
    for _ in range(PREVIEW_LINES):
        found = text.find("\n", end) + 1
        if not found or found > PREVIEW_CHARS:
            return end if end > PREVIEW_CHARS // 2 else min(len(text), PREVIEW_CHARS)
        end = found
    return end


def _has_escapes(data: dict[Any, Any]) -> bool:
    """Tell whether JSON would escape line ends, quotes or backslashes in a text."""
    texts = [one for one in data.values() if isinstance(one, str)]
    return any(char in text for text in texts for char in ("\n", '"', "\\"))


def _address(image: dict[str, Any]) -> object:
    """Return the URL of an image; some forms give the type and the data separately."""
    kind, data = image.get("media_type"), image.get("data")
    is_separate = isinstance(kind, str) and isinstance(data, str)
    return f"data:{kind};base64,{data}" if is_separate else image.get("url")


def _is_image(url: str) -> bool:
    """Tell whether a URL contains an image of a type that cannot hold scripts."""
    match = DATA_URL.fullmatch(url)
    if not match:
        return False
    try:
        data = base64.b64decode(match[1], validate=True)
    except (binascii.Error, ValueError):
        return False
    return data.startswith(SIGNATURES) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
