"""Whatever breaks, the run is whole in the end: real crashes, signals and full disks."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import time
from pathlib import Path

import pytest

from tests.gym import (
    GymFactory,
    assert_whole,
    collect,
    interrupt,
    keys_of,
    rows_of,
    start_collect,
    wait_for_lines,
    write_tasks,
)
from tests.support import Profiled, run_profile

PATIENT = ("--max-attempts=30", "--request-timeout=1")

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def run(workspace: Path) -> Profiled:
    return Profiled(workspace / "out.jsonl")


def test_a_fifth_of_all_requests_fails(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--fault-rate=0.2", "--seed=1")
    done = collect(gym, write_tasks(workspace, 50), "-n", "4", *PATIENT)
    assert done.returncode == 0, done.stderr
    assert_whole(run, 200)
    kinds = {row["_ng_failure_class"] for row in rows_of(run.failures)}
    assert kinds == {
        "agent_run_error",
        "agent_request_failed",
        "transport_peer_drop",
        "transport_timeout",
    }
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


def test_the_server_is_killed_and_comes_back(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--latency=0.05", own_process=True)
    process = start_collect(gym, write_tasks(workspace, 100), "-p", "8", *PATIENT)
    wait_for_lines(run.rollouts, 10)
    gym.kill()
    time.sleep(1.5)
    gym.start()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert_whole(run, 100)


@pytest.mark.slow
def test_ten_kills_at_random_moments(start_gym: GymFactory, workspace: Path, run: Profiled) -> None:
    gym = start_gym("--fault-rate=0.2", "--seed=2", "--latency=0.05", "--padding=20000")
    tasks = write_tasks(workspace, 150)
    flags = ("-n", "4", "-p", "16", *PATIENT)
    chance = random.Random(4)
    for kill in range(10):
        process = start_collect(gym, tasks, "--resume", *flags)
        wait_for_lines(run.rollouts, 3 * kill)
        time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        process.communicate(timeout=60)
    done = collect(gym, tasks, "--resume", *flags)
    assert done.returncode == 0, done.stderr
    assert_whole(run, 600)
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


@pytest.mark.parametrize("which", ["rollouts", "failures"])
def test_a_torn_last_line_is_set_aside_and_runs_again(
    start_gym: GymFactory, workspace: Path, run: Profiled, which: str
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["404", "ok"]}, {}, {}])
    assert collect(gym, tasks).returncode == 3
    path = run.rollouts if which == "rollouts" else run.failures
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    done = collect(gym, tasks, "--resume")
    assert done.returncode == 0
    assert f"{path.name}: the last line was cut short" in done.stderr
    assert path.with_name(path.name + ".torn").read_bytes() == whole.splitlines()[-1][:-29] + b"\n"
    assert_whole(run, 3)


@pytest.mark.parametrize("tail", [b"", b"  "], ids=["no newline", "blanks"])
def test_a_whole_last_line_without_newline_is_completed(
    start_gym: GymFactory, workspace: Path, run: Profiled, tail: bytes
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 3)
    assert collect(gym, tasks).returncode == 0
    lines = run.rollouts.read_bytes().splitlines()
    run.rollouts.write_bytes(b"\n".join(lines[:2]) + tail)
    done = collect(gym, tasks, "--resume")
    assert done.returncode == 0
    assert "was completed" in done.stderr
    assert_whole(run, 3)


@pytest.mark.parametrize(
    ("line", "code", "named"),
    [
        (b"{torn", 4, "(line 2)\n  what to do: correct or remove the line, then resume\n"),
        (b"[]", 4, "(line 2)"),
        (b"{}", 4, "no _ng_rollout_index"),
        (
            b'{"_ng_task_index":0,"_ng_rollout_index":0}',
            1,
            "is a rollout that an earlier line has: line 2",
        ),
        (b'{"_ng_task_index":9,"_ng_rollout_index":0}', 1, "inputs do not ask for: line 2"),
    ],
    ids=["torn", "list", "no index", "repeated", "unknown"],
)
def test_a_bad_line_in_the_middle_stops_with_file_and_line(
    start_gym: GymFactory, workspace: Path, run: Profiled, line: bytes, code: int, named: str
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{}, {"seconds": 0.3}])
    assert collect(gym, tasks).returncode == 0
    first, second = run.rollouts.read_bytes().splitlines(keepends=True)
    run.rollouts.write_bytes(first + line + b"\n" + second)
    done = collect(gym, tasks, "--resume")
    assert done.returncode == code
    assert named in done.stderr
    assert "out.jsonl" in done.stderr
    assert line in run.rollouts.read_bytes()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_lets_rollouts_in_flight_finish(
    start_gym: GymFactory, workspace: Path, run: Profiled, number: int, code: int
) -> None:
    gym = start_gym("--latency=0.5")
    tasks = write_tasks(workspace, 200)
    process = start_collect(gym, tasks, "-p", "4", "--json")
    wait_for_lines(run.rollouts, 4)
    interrupt(process, number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "stopping: waiting up to 30 s" in errors
    told = json.loads(output)
    assert told["status"] == "interrupted"
    asked = sum(gym.stats()["seen"].values())
    assert told["completed_rollout_count"] == asked == len(rows_of(run.rollouts))
    gym.kill()
    gym.options.append("--latency=0")
    gym.start()
    assert collect(gym, tasks, "--resume").returncode == 0
    assert_whole(run, 200)


@pytest.mark.parametrize("how", ["grace", "second"])
def test_a_hanging_rollout_does_not_hold_up_the_end(
    start_gym: GymFactory, workspace: Path, run: Profiled, how: str
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["hang", "ok"]}, {}])
    grace = "--grace-period=0.5" if how == "grace" else "--grace-period=3600"
    process = start_collect(gym, tasks, grace)
    wait_for_lines(run.rollouts, 1)
    interrupt(process)
    if how == "second":
        time.sleep(0.3)
        interrupt(process)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in output
    assert collect(gym, tasks, "--resume").returncode == 0
    assert_whole(run, 2)


def test_a_second_collector_is_kept_off(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{}, {"script": ["hold"]}])
    process = start_collect(gym, tasks)
    wait_for_lines(run.rollouts, 1)
    for flag in ("--resume", "--overwrite"):
        done = collect(gym, tasks, flag)
        assert done.returncode == 4
        assert "another collector is writing" in done.stderr
    gym.release()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert_whole(run, 2)


def limit_file_size() -> None:
    """Make every file end at 30 KB, as on a full disk: the write that crosses it is short."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))


def test_a_full_disk_loses_nothing(start_gym: GymFactory, workspace: Path, run: Profiled) -> None:
    gym = start_gym("--padding=1000")
    tasks = write_tasks(workspace, 50)
    process = start_collect(gym, tasks, "-p", "4", preexec_fn=limit_file_size)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "cannot write" in errors
    assert "--resume" in errors
    kept = rows_of(run.rollouts)  # whole lines only
    assert 20 < len(kept) < 50
    assert collect(gym, tasks, "--resume").returncode == 0
    assert_whole(run, 50)
    assert keys_of(rows_of(run.rollouts))[: len(kept)] == keys_of(kept)


def test_a_disk_that_is_full_from_the_start_leaves_nothing(
    start_gym: GymFactory, workspace: Path
) -> None:
    tasks = write_tasks(workspace, 50)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))

    process = start_collect(start_gym(), tasks, preexec_fn=limit)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "cannot write" in errors
    assert [path.name for path in workspace.iterdir()] == ["tasks.jsonl"]


def test_a_folder_that_cannot_be_written(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    closed = workspace / "closed"
    if os.geteuid() == 0:  # root may write everywhere but where there is no folder
        closed.write_text("", encoding="utf-8")
    else:
        closed.mkdir(mode=0o500)
    done = collect(gym, tasks, output=str(closed / "out.jsonl"))
    assert done.returncode == 4
    assert "cannot write" in done.stderr
    assert gym.stats()["seen"] == {}
