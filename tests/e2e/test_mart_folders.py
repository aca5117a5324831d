"""Marts that Spark wrote as Parquet files, in the commands that read a warehouse."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from collector.cli import main
from collector.warehouse.sql import literal
from tests.mart_folders import write_mart_folder
from tests.programs import run_command
from tests.support import (
    ALL_MARTS,
    MARTS,
    Profiled,
    inputs_of,
    key,
    profiled,
    run_profile,
    write_run,
)

IDS = ("001", "it's a/b c")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs whose names a path must not spoil."""
    folder = tmp_path_factory.mktemp("made")
    for number, run_id in enumerate(IDS):
        rows = [key(task, index, reward=index % 2) for task in range(3) for index in range(4)]
        run = write_run(folder, rows, inputs=inputs_of(rows), name=f"run{number}")
        profiled(run, "--run-id", run_id)
    return folder / "warehouse.duckdb"


@pytest.fixture
def marts(warehouse: Path, tmp_path: Path) -> Path:
    """The folder that Spark would have made of them."""
    write_mart_folder(warehouse, tmp_path / "marts")
    return tmp_path / "marts"


def contents(warehouse: Path) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return {
            mart: connection.execute(f"from {mart} order by all").fetchall() for mart in ALL_MARTS
        }


def test_a_folder_of_marts_becomes_the_same_warehouse(
    warehouse: Path, marts: Path, tmp_path: Path
) -> None:
    done = run_command("spotter", "merge", marts, "-w", "copy.duckdb", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "copy.duckdb") == contents(warehouse)
    made = Profiled(tmp_path / "out" / "001.jsonl")
    written = Profiled(warehouse.parent / "run0.jsonl")
    for kind in ("profiling", "agents", "repeats"):
        assert getattr(made, kind).read_bytes() == getattr(written, kind).read_bytes()


def rewrite(part: Path, change: str) -> None:
    """Write a file of a mart again, with other columns."""
    with duckdb.connect() as connection:
        place = f"read_parquet({literal(part)}, hive_partitioning = false)"
        connection.execute(f"create table part as select * {change} from {place}")
        connection.execute(f"copy part to {literal(part)} (format parquet)")


def only_part(marts: Path, mart: str, run: str = "001") -> Path:
    (part,) = (marts / mart / f"run_id={run}").glob("*.parquet")
    return part


def remove_mart(mart: str) -> Callable[[Path], None]:
    return lambda marts: shutil.rmtree(marts / mart)


def change_columns(mart: str, change: str) -> Callable[[Path], None]:
    return lambda marts: rewrite(only_part(marts, mart), change)


def repeat_part(marts: Path) -> None:
    part = only_part(marts, "task_profiles")
    shutil.copy(part, part.with_name("part-1.parquet"))


def repeat_run(marts: Path) -> None:
    shutil.copytree(marts / "runs" / "run_id=001", marts / "runs" / "run_id=%3001")


def unname_run(marts: Path) -> None:
    folder = marts / "runs" / "run_id=__HIVE_DEFAULT_PARTITION__"
    (marts / "runs" / "run_id=001").rename(folder)


def damage_part(marts: Path) -> None:
    part = only_part(marts, "task_bands")
    part.write_bytes(part.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (change_columns("runs", "exclude (made_with)"), "another version: no column made_with"),
        (
            change_columns("task_profiles", "replace (task_index + 0.5e0 as task_index)"),
            "another version: task_index is double, not bigint",
        ),
        (remove_mart("task_profiles"), "contradict one another (task_profiles and task_bands)"),
        (remove_mart("rollout_infos"), "contradict one another (task_profiles and rollout_infos)"),
        (remove_mart("agent_metrics"), "contradict one another (conserve_metrics)"),
        (remove_mart("runs"), "is a folder without marts"),
        (repeat_part, "task_profiles has rows of 001 twice"),
        (repeat_run, "are the same run, 001"),
        (unname_run, "does not name a run"),
        (damage_part, "a file of the mart task_bands: "),
    ],
    ids=lambda one: getattr(one, "__name__", None) or str(one)[:30],
)
def test_a_folder_with_a_defect_is_refused(
    change: Callable[[Path], None], said: str, marts: Path, tmp_path: Path
) -> None:
    change(marts)
    done = run_command("spotter", "merge", marts, "-w", "copy.duckdb", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert said in done.stderr
    assert "what to do: " in done.stderr
    assert not (tmp_path / "copy.duckdb").exists()


def test_what_a_stopped_build_left_and_the_folders_above_do_not_count(
    warehouse: Path, marts: Path, tmp_path: Path
) -> None:
    for folder in (".spark-staging-1", "_temporary/0/attempt_1"):
        shutil.copytree(marts / "task_bands", marts / "task_bands" / folder)
    part = only_part(marts, "task_bands")
    shutil.copy(part, part.with_name("_part.parquet"))
    above = tmp_path / "agent_name=other"
    above.mkdir()
    marts.rename(above / "marts")
    done = run_command("spotter", "merge", above / "marts", "-w", "copy.duckdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "copy.duckdb") == contents(warehouse)


def test_only_the_runs_of_the_folder_are_checked(
    warehouse: Path, marts: Path, tmp_path: Path
) -> None:
    """A warehouse may have a run that an earlier version profiled in another way."""
    shutil.copy(warehouse, tmp_path / "other.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        for mart in MARTS:
            connection.execute(f"update {mart} set run_id = 'other' || run_id")
        connection.execute("delete from rollout_infos")
        connection.execute("insert into task_bands from task_bands")
    words = ("merge", "other.duckdb", marts, "-w", "copy.duckdb")
    done = run_command("spotter", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["one.jsonl", "two.jsonl"], "takes one rollouts file, or a pattern"),
        (["one.jsonl", "--skip-broken"], "--skip-broken is not possible with --engine spark"),
        (["one.jsonl", "--shard"], "--shard is not possible with --engine spark"),
        (["s3a://me:secret@bucket/one.jsonl"], "has a user and a password"),
    ],
)
def test_what_spark_cannot_do_is_said_first(flags: list[str], said: str, tmp_path: Path) -> None:
    done = run_profile(*flags, "--engine", "spark", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_spark_is_asked_for_only_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["profile", "one.jsonl", "--engine", "spark"]
    found = importlib.util.find_spec
    for missing, said in (
        ("pyspark", "pip install '.[spark]'"),
        ("", "needs Java 17 or later, which is not in JAVA_HOME ("),
    ):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, missing=missing: None if name == missing else found("json"),
        )
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert said in capsys.readouterr().err
