"""The names of runs: readable, and unique where needed."""

from __future__ import annotations

from pathlib import Path

from collector.artifacts import run_names


def names(*paths: str, taken: tuple[str, ...] = ()) -> list[str]:
    files = [Path(path) for path in paths]
    found = run_names(files, taken)
    return [found[file] for file in files]


def test_a_run_is_named_after_its_folder_and_its_file() -> None:
    assert names("/data/monday/rollouts.jsonl", "/data/tuesday/rollouts.jsonl") == [
        "monday-rollouts",
        "tuesday-rollouts",
    ]


def test_more_folders_tell_equal_names_apart() -> None:
    found = names("/a/x/run.jsonl", "/b/x/run.jsonl", "/b/y/run.jsonl")
    assert found == ["a-x-run", "b-x-run", "y-run"]


def test_a_name_of_the_warehouse_is_not_given_twice() -> None:
    assert names("/a/x/run.jsonl", taken=("x-run",)) == ["a-x-run"]


def test_a_hash_is_the_last_resort() -> None:
    (name,) = names("/x/run.jsonl", taken=("x-run",))
    assert name.startswith("run-")
    assert len(name) == len("run-") + 8


def test_names_that_only_look_equal_are_told_apart() -> None:
    assert len(set(names("/a/b-c/run.jsonl", "/a-b/c/run.jsonl", "/b/c/run.jsonl"))) == 3


def test_a_file_at_the_root_has_its_own_name() -> None:
    assert names("/run.jsonl") == ["run"]
