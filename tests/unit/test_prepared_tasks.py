"""A task file is used again only for the configs it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pytest

from collector.atomic_files import Drafts
from collector.collection.prepared_tasks import PreparedTasks, TaskMode
from collector.errors import UsageError

ORIGIN: dict[str, Any] = {"split": "train", "datasets": {"a": [{"type": "train"}]}}


def prepare(path: Path, origin: dict[str, Any], mode: TaskMode) -> list[str]:
    """Prepare the tasks, and return what was done and said."""
    done: list[str] = []

    def write(file: BinaryIO) -> None:
        file.write(b"written\n")
        done.append("written")

    with Drafts() as drafts:
        PreparedTasks(path, origin).prepare(write, drafts, mode=mode, say=done.append)
        drafts.publish()
    return done


def test_tasks_that_are_there_are_used_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    assert prepare(path, ORIGIN, "write") == ["written"]
    path.write_text("edited\n", encoding="utf-8")
    assert prepare(path, ORIGIN, "reuse") == [f"using the tasks of {path} as they are"]
    assert path.read_text(encoding="utf-8") == "edited\n"


def test_other_tasks_are_replaced_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    path.write_text("somebody's\n", encoding="utf-8")
    with pytest.raises(UsageError, match="exists already, with other tasks"):
        prepare(path, ORIGIN, "write")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text(encoding="utf-8") == "somebody's\n"
    prepare(path, ORIGIN, "replace")
    assert path.read_text(encoding="utf-8") == "written\n"


def test_the_same_tasks_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    prepare(path, ORIGIN, "write")
    before = path.stat()
    prepare(path, ORIGIN, "write")
    assert path.stat() == before


def test_without_tasks_they_are_prepared(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    said, done = prepare(path, ORIGIN, "reuse")
    assert "does not exist yet" in said
    assert done == "written"


@pytest.mark.parametrize("other", [{**ORIGIN, "split": "validation"}, {**ORIGIN, "datasets": {}}])
def test_tasks_of_other_configs_are_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    path = tmp_path / "out_tasks.jsonl"
    prepare(path, ORIGIN, "write")
    with pytest.raises(UsageError, match="come from other configs or another split"):
        prepare(path, other, "reuse")


def test_tasks_of_unknown_origin_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "out_tasks.jsonl"
    path.write_text("somebody's\n", encoding="utf-8")
    with pytest.raises(UsageError, match="have no record of their origin"):
        prepare(path, ORIGIN, "reuse")
