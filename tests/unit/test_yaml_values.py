"""YAML that people write: how values are read, and what is refused before it does harm."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector import yaml_values
from collector.collection.prompts import load_prompt
from collector.comparing.policy import read_policy
from collector.curating.recipe_files import read_recipe
from collector.errors import FileError, UsageError
from collector.importing.mapping import read_mapping
from collector.profiling.prices import read_prices
from collector.servers.config import load_config


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("{temperature: 0.7, top_p: 1e-1}", {"temperature": 0.7, "top_p": 0.1}),
        ("on", "on"),
        ("2024-01-01", "2024-01-01"),
        ("true", True),
        ("null", None),
        ("[a, 1]", ["a", 1]),
    ],
)
def test_yaml_is_read_as_nemo_gym_does(text: str, value: Any) -> None:
    assert yaml_values.parse(text) == value


def test_broken_yaml_is_not_quoted() -> None:
    with pytest.raises(ValueError, match="not valid YAML") as error:
        yaml_values.parse("key: [hunter2")
    assert "hunter2" not in str(error.value)
    with pytest.raises(ValueError, match="not valid YAML"):
        yaml_values.parse("!!python/object/apply:os.system [ls]")


def alias_bomb(levels: int) -> str:
    """A short text of which each level repeats the one before ten times."""
    lines = [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)
    ]
    return "\n".join(["a0: &a0 [x, x]", *lines])


ENDLESS_YAML = {
    "an alias bomb": (alias_bomb(8), "100,000 values"),
    "a bomb of merged maps": (
        alias_bomb(8).replace("[x, x]", "{x: 1}") + "\nb: {<<: *a7}",
        "100,000",
    ),
    "many values": ("[" + "1," * 100_000 + "1]", "100,000 values"),
    "deep lists": ("a: " + "[" * 100_000, "100 levels deep (line 1, column 103)"),
    "deep blocks": ("- " * 100_000 + "a", "100 levels deep"),
    "a part of itself": ("keep: &x\n  by: *x", "*x contains itself (line 2, column 7)"),
    "a number that takes minutes": ("a: 1" + ":1" * 300_000, "not valid YAML (line 1, column 4)"),
}


@pytest.mark.parametrize(("text", "message"), ENDLESS_YAML.values(), ids=ENDLESS_YAML)
def test_yaml_that_would_fill_the_memory_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        yaml_values.parse(text)


def test_values_may_repeat_within_the_limit() -> None:
    assert yaml_values.parse("a: &a [1]\nb: {c: *a}\nd: *a") == {
        "a": [1],
        "b": {"c": [1]},
        "d": [1],
    }
    assert len(yaml_values.parse(alias_bomb(4))["a3"]) == 10


def _load_config(path: Path) -> Any:
    return load_config([str(path)], [])


@pytest.mark.parametrize(
    "read", [_load_config, load_prompt, read_mapping, read_policy, read_prices, read_recipe]
)
def test_every_reader_of_a_persons_yaml_has_the_limits(
    read: Callable[[Path], Any], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(alias_bomb(8), encoding="utf-8")
    with pytest.raises(UsageError, match="more than 100,000 values"):
        read(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        read(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match=r"mine\.yaml"):
        read(path)
