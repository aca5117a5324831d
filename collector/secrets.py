"""Redact secrets in everything that Spotter writes: known ones, and texts that look like one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from collector import yaml_values
from collector.jsonl import dump

MARK = "[redacted]"
SHORTEST = 8
# values that people write where a key is demanded but not used; shorter ones are ignored anyway
PLACEHOLDERS = frozenset(
    {
        *("anything", "changeme", "not-needed", "not_needed", "not-required", "no-key-required"),
        *("password", "placeholder", "simulated", "undefined", "whatever", "your-api-key"),
    }
)
# <|im_end|>, </s>, [PAD]: tokens of a chat template, under names like eos_token
TEMPLATE_TOKEN = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
# enough for JSON in JSON in JSON in JSON; a longer run would make the search slow
BACKSLASHES = r"\\{1,32}"
JSON_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
LETTER_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
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
    """Yield every text below a field that holds a secret, and the secrets in all URLs."""
    for _, found in secret_fields(value):
        for _, item in yaml_values.walk(found):
            if isinstance(item, (str, int)) and not isinstance(item, bool):
                yield str(item)
                yield SCHEME.sub("", str(item), count=1)
    for _, item in yaml_values.walk(value):
        if isinstance(item, str):
            yield from url_secrets(item)


def url_secrets(text: str) -> Iterator[str]:
    """Yield the secrets of a URL in all forms in which a server can repeat them."""
    try:
        url = urlsplit(text) if "://" in text else urlsplit("")
        user, password = url.username or "", url.password or ""
        fields = parse_qsl(url.query)
    except ValueError:  # not a URL
        return
    if user or password:
        login = f"{unquote(user)}:{unquote(password)}"
        yield base64.b64encode(login.encode()).decode()  # the header of a login
        yield from (password or user, unquote(password or user))
    for name, value in fields:
        if is_hidden_name(name):
            yield value


def is_placeholder(text: str) -> bool:
    """Tell whether the value of a secret field is an ordinary word or token, not a secret."""
    return text.lower() in PLACEHOLDERS or bool(TEMPLATE_TOKEN.fullmatch(text))


class Redactor:
    """Replaces secrets in text."""

    def __init__(self, known: Iterable[str] = (), *, shortest: int = SHORTEST) -> None:
        """Take the known secrets; ignore short ones and placeholders, which are ordinary words."""
        secrets = {text for text in known if len(text) >= shortest and not is_placeholder(text)}
        longest_first = sorted(secrets, key=lambda text: (-len(text), text))
        self._known = re.compile("|".join(map(_pattern, longest_first))) if secrets else None
        # the secrets as JSON mostly writes them, to pass over all other rows quickly
        forms = {json.dumps(text)[1:-1] for text in secrets}
        forms |= {json.dumps(text, ensure_ascii=False)[1:-1] for text in secrets}
        self._forms = [form.encode("utf-8", "replace") for form in forms]

    def redact_text(self, text: str) -> str:
        """Replace known secrets, and texts that look like one; for messages."""
        return LOOKS_SECRET.sub(
            lambda match: (match["keep"] or match["url"] or match["cookie"] or "") + MARK,
            self.redact_known(text),
        )

    def redact_known(self, text: str) -> str:
        """Replace known secrets, also where some characters are written as JSON escapes."""
        return self._known.sub(MARK, text) if self._known else text

    def redact_line(self, line: bytes) -> bytes:
        """Replace known secrets in the texts of a JSON value; everything else in it is data."""
        if self._known is None or not self._may_contain_secret(line):
            return line
        text = line.decode("utf-8", "surrogateescape")
        return JSON_STRING.sub(self._redact_literal, text).encode("utf-8", "surrogateescape")

    def _may_contain_secret(self, line: bytes) -> bool:
        if any(form in line for form in self._forms):
            return True
        has_escapes = b"\\u" in line or b"\\/" in line or b"\\\\" in line
        assert self._known
        return has_escapes and bool(self._known.search(line.decode("utf-8", "surrogateescape")))

    def _redact_literal(self, match: re.Match[str]) -> str:
        assert self._known
        if not self._known.search(match[0]):
            return match[0]
        text = json.loads(match[0], strict=False)
        redacted = self.redact_known(text)
        return match[0] if redacted == text else dump(redacted).decode()


def _pattern(secret: str) -> str:
    """Return a pattern for a secret as plain text, and as text in JSON in other JSON."""
    return "".join(map(_character_pattern, secret))


def _character_pattern(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    codes = [units[start : start + 2].hex() for start in range(0, len(units), 2)]
    escaped = "".join(f"{BACKSLASHES}u(?i:{code})" for code in codes)
    forms = [re.escape(character), escaped]
    if character in LETTER_ESCAPES:
        forms.append(BACKSLASHES + LETTER_ESCAPES[character])
    elif character in '"\\/':
        forms.append(BACKSLASHES + re.escape(character))
    return f"(?:{'|'.join(forms)})"
