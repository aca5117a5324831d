from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest

from collector.importing import json_scanner
from collector.importing.json_scanner import JsonScanError, JsonScanner

LIMIT = 1 << 20


@pytest.fixture(params=[1, 2, 3, 7, 64, 1 << 20])
def chunk_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size = int(request.param)
    monkeypatch.setattr(json_scanner, "CHUNK_BYTES", size)
    return size


def scan(text: str) -> JsonScanner:
    return JsonScanner(io.BytesIO(text.encode()).read)


def rebuilt(scanner: JsonScanner) -> Any:
    """Walk into everything, and build the document again."""
    if scanner.kind() == "{":
        return {name: rebuilt(scanner) for name in scanner.members()}
    if scanner.kind() == "[":
        return [rebuilt(scanner) for _ in scanner.elements()]
    return scanner.parse(LIMIT)


def random_value(draw: random.Random, depth: int = 0) -> Any:
    texts = ["", "a", 'a"b', "\\", "\\\\", 'x\\"', "[{", "}]", ",:", "é€😀", "\n", "long " * 50]
    kind = draw.randrange(8 if depth < 4 else 6)
    if kind < 3:
        return draw.choice(texts)
    if kind < 6:
        return draw.choice([0, -1.5, 1e300, True, False, None, 12345678901234567890123])
    count = draw.randrange(4)
    if kind == 6:
        return [random_value(draw, depth + 1) for _ in range(count)]
    return {f"{n}{draw.choice(texts)}": random_value(draw, depth + 1) for n in range(count)}


@pytest.mark.usefixtures("chunk_bytes")
@pytest.mark.parametrize("seed", range(20))
def test_walking_taking_and_skipping_agree_with_the_json_module(seed: int) -> None:
    value = {"x": random_value(random.Random(seed)), "y": [random_value(random.Random(seed + 1))]}
    text = json.dumps(value, ensure_ascii=bool(seed % 2), indent=seed % 3 or None)
    assert rebuilt(scan(text)) == value
    assert scan(text).parse(LIMIT) == value
    skipping = scan(f"[{text}, 7]")
    assert [skipping.parse(9) if number else None for number in skipping.elements()] == [None, 7]
    skipping.finish()


def test_not_a_number_is_read_as_python_writes_it() -> None:
    value = scan('{"a": NaN, "b": [Infinity]}').parse(LIMIT)
    assert value["a"] != value["a"]
    assert value["b"] == [float("inf")]


@pytest.mark.usefixtures("chunk_bytes")
@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, {"b": "c',
        '{"a": [1, 2',
        '{"a": "b\\',
        '{"a"',
        '{"a": ',
        "{",
        "",
        '{"a": 1,',
        "[1",
    ],
)
def test_a_document_that_is_cut_off_is_an_error(text: str) -> None:
    with pytest.raises(JsonScanError, match="cut off"):
        rebuilt(scan(text or "["))


@pytest.mark.parametrize(
    "text", ["{1: 2}", '{"a" 1}', '{"a": 1 "b": 2}', '{"a": 1,}', "[1,]", "[,]"]
)
def test_a_document_that_is_not_json_is_an_error(text: str) -> None:
    with pytest.raises(JsonScanError):
        rebuilt(scan(text))


def test_text_behind_the_document_is_an_error() -> None:
    scanner = scan("{} {}")
    assert list(scanner.members()) == []
    with pytest.raises(JsonScanError, match="more text"):
        scanner.finish()


@pytest.mark.usefixtures("chunk_bytes")
@pytest.mark.parametrize("text", ['"' + "x" * 500 + '"', "[" * 500 + "]" * 500, "1" * 500])
def test_a_value_beyond_the_limit_is_not_collected(text: str) -> None:
    with pytest.raises(JsonScanError, match="more than 100 bytes"):
        scan(f"[{text}]").value(100)


def test_so_many_values_that_they_would_fill_the_memory_are_not_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_scanner, "MOST_VALUES", 10)
    text = json.dumps(["a, [b], {c}, " * 20, 'quoted \\" , , , , , , , , , , , , "'])
    assert json_scanner.parse_value(text.encode()) == json.loads(text)
    with pytest.raises(JsonScanError, match="more than 10 parts"):
        json_scanner.parse_value(b"[" + b"{}," * 10 + b"{}]")
