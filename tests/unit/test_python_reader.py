from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.errors import FileError
from collector.profiling import python_reader
from tests.support import key


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", False),
        (b"\n", False),
        (b'{"a": 1}\n', False),
        (b'{"a": 1}', False),
        (b'{"a": 1}\n{"a": ', True),
        (b'{"a": ', True),
        (b'{"a": 1}\n{"a": 1}\n   ', False),
        (b'{"a": "' + b"x" * (3 << 20) + b'"}', False),
        (b'{"a": 1}\n{"a": "' + b"x" * (3 << 20), True),
        (b"\xef\xbb\xbf{}", False),
        (b'{"a": 1}\n{"a"\0\0\0', True),
        (b'{"a": 1}\n\0\0\0', True),
        (b'{"a": 1}\n{"a": 1}{"a": 2}', False),
        (b"hello", False),
    ],
    ids=[
        "empty",
        "newline",
        "ended",
        "whole",
        "torn",
        "only torn",
        "blanks",
        "long",
        "long torn",
        "bom",
        "torn with zeros",
        "zeros",
        "two objects",
        "no object",
    ],
)
def test_a_torn_last_line_is_recognized(content: bytes, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    assert (python_reader.unfinished_line(path) is not None) is expected


def test_a_rewritten_rollout_keeps_what_staging_reads(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    response = {"id": "x", "status": "completed", "output": [], "usage": {"t": 1, "d": {}}}
    row = key(0, 1, reward=None, answer="7", responses_create_params={}, response=response)
    source.write_text(json.dumps(row) + "\n", encoding="utf-8")
    python_reader.rewrite(source, target, keep=python_reader.rollout_row, skip_torn=False)
    assert json.loads(target.read_text(encoding="utf-8")) == key(
        *(0, 1),
        reward=None,
        answer="7",
        response={"status": "completed", "output": [], "usage": {"t": 1, "d": {}}},
    )


def test_every_bad_line_is_counted_and_the_first_ten_are_named(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"\n".join([b'{"x": 1}', *[b"bad"] * 14]))
    with pytest.raises(FileError) as caught:
        python_reader.rewrite(
            source, tmp_path / "target", keep=python_reader.rollout_row, skip_torn=False
        )
    text = str(caught.value)
    assert f"15 lines of {source}" in text
    assert f"{source}:1: no _ng_task_index" in text
    assert f"{source}:10: not JSON" in text
    assert f"{source}:11" not in text
    assert "and 5 more" in text


def test_a_line_nested_too_deeply_for_python_is_named(tmp_path: Path) -> None:
    source = tmp_path / "source"
    depth = 200_000
    source.write_bytes(b'{"a":' + b"[" * depth + b"]" * depth + b"}\n")
    with pytest.raises(FileError, match=":1: nested too deeply"):
        python_reader.rewrite(
            source, tmp_path / "target", keep=python_reader.finite_row, skip_torn=False
        )


def test_nan_becomes_null_in_a_rewritten_input() -> None:
    row = {"a": float("nan"), "b": [float("inf"), {"c": -1.5}], "d": "NaN"}
    assert python_reader.finite_row(row) == {"a": None, "b": [None, {"c": -1.5}], "d": "NaN"}
