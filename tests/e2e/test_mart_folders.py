"""Marts that Spark wrote as Parquet files, in the commands that read a warehouse."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb
import pytest

from collector.cli import main
from collector.warehouse.sql import literal
from tests.mart_folders import write_mart_folder
from tests.programs import run_command
from tests.support import ALL_MARTS, Profiled, inputs_of, key, profiled, run_profile, write_run

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


def test_a_folder_that_lacks_something_is_refused(marts: Path, tmp_path: Path) -> None:
    place = literal(marts / "runs" / "run_id=001" / "*.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"create table runs as from read_parquet({place})")
        connection.execute("alter table runs drop column made_with")
        for path in (marts / "runs").glob("*/*.parquet"):
            path.unlink()
        target = marts / "runs" / "run_id=001" / "part-0.parquet"
        connection.execute(f"copy runs to {literal(target)} (format parquet)")
    done = run_command("spotter", "merge", marts, "-w", "copy.duckdb", cwd=tmp_path)
    assert done.returncode == 4
    assert "filled by another version: runs has no made_with" in done.stderr
    (tmp_path / "empty").mkdir()
    done = run_command("spotter", "merge", "empty", "-w", "copy.duckdb", cwd=tmp_path)
    assert done.returncode == 4
    assert "is a folder without marts" in done.stderr
    assert not (tmp_path / "copy.duckdb").exists()


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
    for missing, said in (("pyspark", "pip install 'spotter[spark]'"), ("", "needs Java 17")):
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
