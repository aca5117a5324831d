"""Known secrets are found however JSON writes them, and ordinary words are left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.secrets import MARK, Redactor, secret_texts

KEY = 'sk-Ab/c"d\\e-ä-😀-1234'
PLAIN = "sk-abcdefgh1234"


def escape_all(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def nest(value: Any, times: int) -> Any:
    return value if not times else {"nested": json.dumps(nest(value, times - 1))}


@pytest.mark.parametrize("depth", range(5))
def test_a_secret_in_json_in_json_is_found(depth: int) -> None:
    line = json.dumps(nest({"said": f"Bearer {KEY}!", KEY: 1}, depth)).encode()
    value: Any = json.loads(Redactor([KEY]).redact_line(line))
    for _ in range(depth):
        value = json.loads(value["nested"])
    assert value == {"said": f"Bearer {MARK}!", MARK: 1}


@pytest.mark.parametrize("written", [str.upper, str.lower])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_secret_of_escapes_is_found(depth: int, written: Any) -> None:
    escaped = written(escape_all(PLAIN)).replace("\\U", "\\u")
    line = f'{{"said":"{escaped}","n":12345678901234567890.0}}'
    for _ in range(depth):
        line = json.dumps({"nested": line})
    redacted = Redactor([PLAIN]).redact_line(line.encode()).decode()
    assert MARK in redacted
    assert "12345678901234567890.0" in redacted  # everything else stays as written
    json.loads(redacted)


def test_a_text_that_only_resembles_a_secret_stays_as_it_is() -> None:
    line = b'{"said": "sk-abc\\\\u0064 \\n sk-abcdefgh123 \\ud800", "sk-abcdefgh": 1.0}'
    assert Redactor([PLAIN]).redact_line(line) == line
    escape = b'{"said": "\\nothing-secret-1"}'  # a newline, then text
    assert Redactor(["nothing-secret-1"]).redact_line(escape) == escape


def test_the_longest_secret_wins() -> None:
    redactor = Redactor(["sk-abcdefgh", "sk-abcdefgh1234"])
    assert redactor.redact_known("sk-abcdefgh1234") == MARK


@pytest.mark.parametrize(
    "value", ["x", "EMPTY", "dummy", "test", "Password", "placeholder", "<|endoftext|>", "[PAD-ID]"]
)
def test_placeholders_are_not_secrets(value: str) -> None:
    text = f"the {value} of the {value.lower()}"
    assert Redactor([value]).redact_known(text) == text


def test_every_secret_of_a_config_counts() -> None:
    config = {
        "policy_api_key": "sk-1",
        "a": {"headers": [{"Authorization": "Bearer token-1"}], "max_tokens": 5},
        "url": "https://me:p%40ss@host/v1?key=query-1&model=m",
        "other": "https://only-a-token@host",
        "path": "not a url: //x@y",
    }
    assert set(secret_texts(config)) == {
        *("sk-1", "Bearer token-1", "token-1", "query-1"),
        *("p%40ss", "p@ss", "bWU6cEBzcw=="),
        *("only-a-token", "b25seS1hLXRva2VuOg=="),
    }
