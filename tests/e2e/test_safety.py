"""A crash, a second process or a reader costs time, never data."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from collector.errors import BusyError, FileError
from collector.warehouse.queries import open_read_only
from tests.programs import run_command
from tests.support import Profiled, key, run_profile, write_run
from tests.warm_processes import WarmProgram

SPOTTER = str(Path(sys.executable).with_name("spotter"))


def many(folder: Path, name: str, tasks: int = 60, reward: float = 1.0) -> Profiled:
    keys = [(task, repeat) for task in range(tasks) for repeat in range(4)]
    rows = [key(t, r, reward=reward, **{f"m{i}": i for i in range(5)}) for t, r in keys]
    return write_run(folder, rows, inputs=[key(t, r) for t, r in keys], name=name)


def start(run: Profiled) -> subprocess.Popen[str]:
    return WarmProgram(
        [SPOTTER, "profile", str(run.rollouts)],
        cwd=run.rollouts.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def holding(run: Profiled, *, is_read_only: bool) -> Iterator[None]:
    """Let another process hold the warehouse open."""
    holder = (
        f"import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only={is_read_only});"
        " print(1, flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holder, str(run.warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    process.stdout.readline()
    try:
        yield
    finally:
        process.communicate("\n", timeout=10)


def test_two_profiles_at_once_both_arrive(workspace: Path) -> None:
    runs = [many(workspace, f"run{i}") for i in range(4)]
    processes = [start(run) for run in runs]
    for process in processes:
        _, messages = process.communicate(timeout=120)
        assert process.returncode == 0, messages
    found = runs[0].query("select count(distinct run_id), count(*) from rollout_infos")
    assert found == [(4, 4 * 240)]


def test_a_profile_waits_for_an_open_reader(workspace: Path) -> None:
    run = many(workspace, "run")
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    with holding(run, is_read_only=True):
        writer = start(run)
        assert writer.stderr
        told = writer.stderr.readline()
        assert "another process is using it" in told
        assert writer.poll() is None
    _, messages = writer.communicate(timeout=60)
    assert writer.returncode == 0
    assert messages == ""


def test_a_warehouse_that_stays_in_use_is_told_from_other_problems(workspace: Path) -> None:
    run = many(workspace, "run", tasks=1)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    waits: list[str] = []
    with holding(run, is_read_only=False), pytest.raises(BusyError, match="is in use") as busy:
        open_read_only(run.warehouse, on_wait=waits.append, timeout_s=0.5)
    assert busy.value.exit_code == 4
    assert "another process is using it" in waits[0]
    run.warehouse.write_bytes(b"not a database")
    with pytest.raises(FileError, match="not a DuckDB file") as other:
        open_read_only(run.warehouse, on_wait=waits.append, timeout_s=0.5)
    assert not isinstance(other.value, BusyError)


def test_a_killed_profile_changes_nothing(workspace: Path) -> None:
    run = many(workspace, "run", tasks=4000, reward=0.25)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    before = run.profiling.read_bytes()
    many(workspace, "run", tasks=4000, reward=0.75)
    process = start(run)
    # the drafts are written inside of the transaction, just before it ends
    while not list(workspace.glob(f".{run.profiling.name}.*.tmp")) and process.poll() is None:
        time.sleep(0.0005)
    process.kill()
    process.communicate(timeout=10)
    assert process.returncode == -9
    assert run.profiling.read_bytes() == before
    assert run.query("select distinct reward_mean from task_profiles") == [(0.25,)]
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    assert run.query("select distinct reward_mean from task_profiles") == [(0.75,)]


def test_a_warehouse_of_an_older_version_gets_the_new_columns(workspace: Path) -> None:
    run = many(workspace, "run", tasks=1)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    with duckdb.connect(str(run.warehouse)) as connection:
        connection.execute("drop schema exports cascade")
        connection.execute("alter table task_profiles drop column total_tokens_mean")
        connection.execute("update task_profiles set run_id = 'old'")
        connection.execute("comment on table task_profiles is 'older'")
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    found = run.query("select count(*), count(distinct run_id) from task_profiles")
    assert found == [(2, 2)]
    assert run.query("select total_tokens_mean from task_profiles where run_id = 'old'") == [
        (None,)
    ]
    # what is new is explained, too
    assert run.query(
        "select count(*) from duckdb_columns()"
        " where table_name = 'task_profiles' and comment is null"
        " union all select count(*) from duckdb_tables() where comment = 'older'"
    ) == [(0,), (0,)]


@pytest.mark.parametrize("content", [b"not a database", b"12345678DUCK and nothing else"])
def test_a_file_that_is_no_warehouse_is_refused(content: bytes, workspace: Path) -> None:
    folder = workspace / "lock"  # a word that DuckDB's message about locks has, too
    run = many(folder, "run", tasks=1)
    run.warehouse.write_bytes(content)
    for result in (
        run_profile(run.rollouts, cwd=folder),
        run_command("spotter", "sql", cwd=folder),
    ):
        assert result.returncode == 4
        assert "cannot open the warehouse" in result.stderr
    assert run.warehouse.read_bytes() == content


def test_a_terminated_profile_cleans_up(workspace: Path) -> None:
    run = many(workspace, "run", tasks=4000)
    process = start(run)
    while not list(workspace.glob(".warehouse.duckdb-*.tmp")) and process.poll() is None:
        time.sleep(0.0005)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode in (143, -15)
    assert not [path for path in workspace.iterdir() if path.name.endswith(".tmp")]
