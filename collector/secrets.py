"""Redact secrets in everything that Spotter writes: known ones, and texts that look like one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from collector import yaml_values
from collector.jsonl import dump, parse_object

MARK = "[redacted]"
SHORTEST = 12
SECRET_NAME = re.compile(
    r"(?:.*[_.-])?(?:api[_-]?keys?|apikeys?|authorization|passwords?|passwd|secrets?|credentials?"
    r"|(?:private|secret|access)[_-]?keys?|token|(?:access|auth|api|bearer|hf)[_-]?tokens"
    r"|(?:set[_-])?cookies?)",
    re.IGNORECASE,
)
HIDDEN_NAME = re.compile(
    r"(?:.*[_.-])?(?:keys?|key[_-]id|pass|pwd|passphrase|tokens|auth(?:[_-]header)?|x-auth.*"
    r"|api[_-]?key.*|secret.*|token[_-]?\d+)",
    re.IGNORECASE,
)
SCHEME = re.compile(r"(?:bearer|basic)\s+", re.IGNORECASE)
QUOTE = r"""\\*["']?"""
LOOKS_SECRET = re.compile(
    rf"""(?P<keep>\b(?:bearer|basic)\s+
        |(?:api[_-]?key|authorization|password|passwd|secret
            |(?:access|auth|bearer|refresh|session)[_-]?token)
            {QUOTE}\s*[:=]\s*{QUOTE}(?:bearer\s+|basic\s+)?
        )
        [^\s"'\\,;@}}]+
    |(?P<url>://[^/\s:@]{{0,100}}:)[^\s"']{{1,200}}(?=@)
    |(?P<cookie>cookie{QUOTE}\s*[:=]\s*{QUOTE})[^\n"'\\}}]+
    |\b(?:sk|pk|nvapi|hf|ghp|xox[abp])[-_][\w-]{{12,}}""",
    re.IGNORECASE | re.VERBOSE,
)


def is_secret_name(name: str) -> bool:
    """Tell whether a field of this name holds a secret; `max_output_tokens` does not."""
    return bool(SECRET_NAME.fullmatch(name))


def is_hidden_name(name: str) -> bool:
    """Tell whether to hide a field; in doubt, hide it."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return is_secret_name(snake) or bool(HIDDEN_NAME.fullmatch(snake))


def secret_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the value of each field that holds a secret."""
    for path, item in yaml_values.walk(value):
        if isinstance(item, dict):
            for key in item:
                if isinstance(key, str) and is_secret_name(key):
                    yield f"{path}{key}", item[key]


def secret_texts(value: Any) -> Iterator[str]:
    """Yield every text below a field that holds a secret, also in lists and maps."""
    for _, found in secret_fields(value):
        for _, item in yaml_values.walk(found):
            if isinstance(item, (str, int)) and not isinstance(item, bool):
                yield str(item)
                yield SCHEME.sub("", str(item), count=1)


class Redactor:
    """Replaces secrets in text."""

    def __init__(self, known: Iterable[str] = (), *, shortest: int = SHORTEST) -> None:
        """Take the known secrets; ignore short ones like `test`, which are ordinary words."""
        self._known = sorted({text for text in known if len(text) >= shortest}, key=len)[::-1]
        # the secrets as JSON may write them: escaped or not
        forms = {json.dumps(text)[1:-1] for text in self._known}
        forms |= {json.dumps(text, ensure_ascii=False)[1:-1] for text in self._known}
        self._forms = [form.encode("utf-8", "replace") for form in forms]

    def redact_text(self, text: str) -> str:
        """Replace known secrets, and texts that look like one; for messages."""
        return LOOKS_SECRET.sub(
            lambda match: (match["keep"] or match["url"] or match["cookie"] or "") + MARK,
            self._replace_known(text),
        )

    def redact_line(self, line: bytes) -> bytes:
        """Replace known secrets in the texts of a JSON row; everything else in a row is data."""
        if not any(form in line for form in self._forms):
            return line
        return dump(self._redact_value(parse_object(line)))

    def _redact_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._replace_known(value)
        if isinstance(value, list):
            return [self._redact_value(item) for item in value]
        if isinstance(value, dict):
            return {
                self._replace_known(key): self._redact_value(item) for key, item in value.items()
            }
        return value

    def _replace_known(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MARK)
        return text
