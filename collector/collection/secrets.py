"""Keep secrets out of everything that is written: known ones, and what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

MARK = "[redacted]"
SHORTEST = 12
SECRET_NAME = re.compile(
    r"(?:.*[_.-])?(?:api[_-]?key|apikey|authorization|password|passwd|secret|credentials?"
    r"|private[_-]?key|(?:access|auth|bearer|refresh|session)[_-]?token|(?:set[_-])?cookie)",
    re.IGNORECASE,
)
QUOTE = r"""\\*["']?"""
LOOKS_SECRET = re.compile(
    rf"""(?P<keep>\b(?:bearer|basic)\s+
        |(?:api[_-]?key|authorization|password|passwd|secret
            |(?:access|auth|bearer|refresh|session)[_-]?token)
            {QUOTE}\s*[:=]\s*{QUOTE}(?:bearer\s+|basic\s+)?
        |://[^/\s:@]{{0,100}}:(?=[^/\s@]{{1,200}}@))
        [^\s"'\\,;@}}]+
    |(?P<cookie>cookie{QUOTE}\s*[:=]\s*{QUOTE})[^\n"'\\}}]+
    |\b(?:sk|pk|nvapi|hf|ghp|xox[abp])[-_][\w-]{{12,}}""",
    re.IGNORECASE | re.VERBOSE,
)


def is_secret_name(name: str) -> bool:
    """Tell whether a field of this name holds a secret; `max_output_tokens` does not."""
    return bool(SECRET_NAME.fullmatch(name))


def secret_fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the dotted name and the value of each field that holds a secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str) and is_secret_name(key):
                yield f"{path}{key}", item
            yield from secret_fields(item, f"{path}{key}.")
    elif isinstance(value, list):
        for item in value:
            yield from secret_fields(item, path)


class Redactor:
    """Replaces secrets in text."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Learn the known ones; short ones are passwords like `test`, and would spoil the text."""
        self._known = sorted({text for text in known if len(text) >= SHORTEST}, key=len)[::-1]
        self._known_bytes = [text.encode() for text in self._known]

    def text(self, text: str) -> str:
        """Remove known secrets and what looks like one: for messages."""
        for secret in self._known:
            text = text.replace(secret, MARK)
        return LOOKS_SECRET.sub(lambda match: (match["keep"] or match["cookie"] or "") + MARK, text)

    def line(self, line: bytes) -> bytes:
        """Remove known secrets only: what else a model writes is data."""
        for secret in self._known_bytes:
            if secret in line:
                line = line.replace(secret, MARK.encode())
        return line
