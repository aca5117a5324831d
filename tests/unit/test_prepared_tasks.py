"""A task file is used again only for the configs it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.collection.prepared_tasks import PreparedTasks
from collector.errors import UsageError

ORIGIN: dict[str, Any] = {"split": "train", "datasets": {"a": [{"type": "train"}]}}


def prepare(path: Path, origin: dict[str, Any], *, reuse: bool) -> list[str]:
    """Prepare the tasks, and return what was done and said."""
    done: list[str] = []

    def write() -> None:
        path.write_text("written\n", encoding="utf-8")
        done.append("written")

    PreparedTasks(path, origin).prepare(write, reuse=reuse, say=done.append)
    return done


def test_tasks_that_are_there_are_used_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    assert prepare(path, ORIGIN, reuse=False) == ["written"]
    path.write_text("edited\n", encoding="utf-8")
    assert prepare(path, ORIGIN, reuse=True) == [f"using the tasks of {path} as they are"]
    assert path.read_text(encoding="utf-8") == "edited\n"
    assert prepare(path, ORIGIN, reuse=False) == ["written"]


def test_without_tasks_they_are_prepared(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    said, done = prepare(path, ORIGIN, reuse=True)
    assert "does not exist yet" in said
    assert done == "written"


@pytest.mark.parametrize("other", [{**ORIGIN, "split": "validation"}, {**ORIGIN, "datasets": {}}])
def test_tasks_of_other_configs_are_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    path = tmp_path / "out_tasks.jsonl"
    prepare(path, ORIGIN, reuse=False)
    with pytest.raises(UsageError, match="come from other configs or another split"):
        prepare(path, other, reuse=True)


def test_tasks_of_unknown_origin_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    path.write_text("somebody's\n", encoding="utf-8")
    with pytest.raises(UsageError, match="have no record of their origin"):
        prepare(path, ORIGIN, reuse=True)
