"""`spotter collect --until`: tasks get repeats only until their band is decided."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.gym import (
    AGENT,
    GymFactory,
    assert_whole,
    collect,
    rows_of,
    start_collect,
    wait_for_lines,
    write_tasks,
)
from tests.programs import run_command
from tests.servers import ARITHMETIC, SIMULATED
from tests.support import Profiled, Row, run_profile

pytestmark = pytest.mark.usefixtures("quick_retries")

UNTIL = "--until=decided:0.95"
PASSING = '{"reward": 1.0}'


@pytest.fixture
def run(workspace: Path) -> Profiled:
    return Profiled(workspace / "out.jsonl")


def repeats_of(run: Profiled) -> dict[int, int]:
    return dict(sorted(Counter(row["_ng_task_index"] for row in rows_of(run.rollouts)).items()))


def record_of(run: Profiled) -> Row:
    record: Row = json.loads(run.rollouts.with_name("out_run.json").read_text(encoding="utf-8"))
    return record


def test_decided_tasks_get_no_more_repeats(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    """A task that passes every second time is learnable after 6 rollouts."""
    tasks = write_tasks(workspace, [{}, {}, {"script": [PASSING]}])
    done = collect(start_gym(), tasks, "-n", "20", "-p", "1", UNTIL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "28/28 (100.00%)" in done.stdout
    assert "--until saved 32 of 60 rollouts (53 %); 3 of 3 tasks are decided" in done.stdout
    assert repeats_of(run) == {0: 6, 1: 6, 2: 16}
    assert_whole(run, 28)
    record = record_of(run)
    assert record["stopping"] == {"rule": "decided:0.95", "pass_threshold": 1.0}
    assert record["materialized"]["rollout_count"] == 28
    assert record["materialized"]["undrawn_rollout_count"] == 32
    assert record["sessions"][0]["status"] == "complete"
    profiled = run_profile("out.jsonl", cwd=workspace)
    assert profiled.returncode == 0, profiled.stderr
    assert "was collected with --until decided:0.95" in profiled.stderr
    assert run.query("select stopping_rule from runs") == [("decided:0.95",)]
    bands = run.query("select task_index, band from task_bands order by task_index")
    assert bands == [(0, "learnable"), (1, "learnable"), (2, "solved")]


def test_a_finished_run_can_go_on_in_either_way(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    assert collect(gym, tasks, "-n", "8", "-p", "1", UNTIL).returncode == 0
    again = collect(gym, tasks, "-n", "8", UNTIL, "--resume", "--json")
    told = json.loads(again.stdout)
    assert (told["new_rollout_count"], told["saved_rollout_count"]) == (0, 4)
    other = collect(gym, tasks, "-n", "8", "--until=decided:0.9", "--resume")
    assert other.returncode == 2
    assert "until: it was decided:0.95 with pass_threshold=1, now decided:0.9" in other.stderr
    assert collect(gym, tasks, "-n", "9", UNTIL, "--resume").returncode == 0
    assert_whole(run, 12)
    assert record_of(run)["materialized"]["undrawn_rollout_count"] == 6
    assert collect(gym, tasks, "-n", "9", "--resume").returncode == 0
    assert_whole(run, 18)
    assert record_of(run)["stopping"] is None
    profiled = run_profile("out.jsonl", cwd=workspace)
    assert "--until" not in profiled.stderr
    assert run.query("select stopping_rule from runs") == [(None,)]


def test_a_rule_that_saves_nothing_leaves_no_trace(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    done = collect(start_gym(), write_tasks(workspace, 2), "-n", "3", UNTIL)
    assert "--until saved 0 of 6 rollouts (0 %); 0 of 2 tasks are decided" in done.stdout
    assert_whole(run, 6)
    assert record_of(run)["stopping"] is None


def test_masked_and_failed_rollouts_decide_nothing(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    masked = '{"reward": 1.0, "mask_sample": true}'
    tasks = write_tasks(workspace, [{"script": [masked]}, {"script": ["422"]}, {}])
    done = collect(gym, tasks, "-n", "8", "-p", "1", UNTIL)
    assert done.returncode == 3
    assert "8 rollouts of 22 missing" in done.stderr
    assert repeats_of(run) == {0: 8, 2: 6}
    # the failures are for good, so the inputs lack only what was saved
    assert len(rows_of(run.inputs)) == 22


def test_the_threshold_decides_what_passes(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    tasks = write_tasks(workspace, [{"script": ['{"reward": 0.5}']}])
    flags = ("-n", "20", "-p", "1", UNTIL, "--pass-threshold=0.5")
    assert collect(start_gym(), tasks, *flags).returncode == 0
    assert repeats_of(run) == {0: 16}
    assert record_of(run)["stopping"]["pass_threshold"] == 0.5
    assert run_profile("out.jsonl", "--pass-threshold=0.5", cwd=workspace).returncode == 0
    assert run.query("select band from task_bands") == [("solved",)]


def test_a_killed_run_decides_the_same_when_it_is_resumed(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--latency=0.01")
    tasks = write_tasks(workspace, 12)
    flags = ("-n", "20", "-p", "3", UNTIL)
    process = start_collect(gym, tasks, *flags)
    wait_for_lines(run.rollouts, 20)
    process.kill()
    process.communicate(timeout=60)
    assert len(rows_of(run.inputs)) == 240
    assert run_profile("out.jsonl", cwd=workspace).returncode == 1
    done = collect(gym, tasks, *flags, "--resume")
    assert done.returncode == 0, done.stderr
    assert set(repeats_of(run).values()) <= {6, 7, 8}  # those in flight at the decision are kept
    assert_whole(run, sum(repeats_of(run).values()))
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


def test_a_kill_between_the_inputs_and_their_record_is_survived(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 1)
    assert collect(gym, tasks, "-n", "8", "-p", "1", UNTIL).returncode == 0
    record = record_of(run)
    new = record["materialized"]
    old = {**new, "sha256": "0", "rollout_count": 8, "undrawn_rollout_count": 0}
    text = json.dumps({**record, "materialized": old, "following": new})
    for flags, count in (((UNTIL,), 6), ((), 8)):
        run.rollouts.with_name("out_run.json").write_text(text, encoding="utf-8")
        assert collect(gym, tasks, "-n", "8", "--resume", *flags).returncode == 0
        assert_whole(run, count)


def test_agents_of_a_task_are_decided_apart(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"agent_ref": {"name": "both"}}])
    urls = [f"--agent-url={name}={gym.url}" for name in (AGENT, "other_agent")]
    words = ("collect", "-i", str(tasks), "-o", "out.jsonl", "-n", "8", "-p", "1", UNTIL)
    fan_out = f"--fan-out={{both: [{AGENT}, other_agent]}}"
    assert run_command("spotter", *words, fan_out, *urls, cwd=workspace).returncode == 0
    counts = Counter(row["agent_ref"]["name"] for row in rows_of(run.rollouts))
    assert counts == {AGENT: 6, "other_agent": 6}
    assert_whole(run, 12)
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


def test_shards_stop_early_and_are_merged(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 4)
    for part in (1, 2):
        flags = ("-n", "8", "-p", "1", UNTIL, f"--shard={part}/2")
        done = collect(gym, tasks, *flags, output=f"part{part}.jsonl")
        assert done.returncode == 0
    merge = ("aggregate", "-i", "part?.jsonl", "-o", "out.jsonl", gym.agent_url)
    assert run_command("spotter", *merge, cwd=workspace).returncode == 0
    assert_whole(Profiled(workspace / "out.jsonl"), 24)
    profiled = run_profile("out.jsonl", cwd=workspace)
    assert profiled.returncode == 0
    assert "was collected with --until decided:0.95" in profiled.stderr


def test_time_runs_out_before_everything_is_decided(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["hold"]}, {}])
    flags = ("-n", "8", "-p", "2", UNTIL)
    done = collect(gym, tasks, *flags, "--dispatch-budget-s=1", "--drain-margin-s=0.1")
    assert done.returncode == 0, done.stderr
    assert len(rows_of(run.inputs)) == 16  # nothing is taken out of an unfinished run
    gym.release()
    assert collect(gym, tasks, *flags, "--resume").returncode == 0
    assert set(repeats_of(run).values()) <= {6, 7, 8}
    assert_whole(run, sum(repeats_of(run).values()))


def simulated(workspace: Path, *flags: str) -> Row:
    words = ("collect", "--serve", "-c", ARITHMETIC, "-c", SIMULATED, "-o", "out.jsonl", "--json")
    slips = "policy_model.responses_api_models.simulated_model.slip_rate=0.5"
    limit = ("--limit=8", "-n", "30", "--set", slips)
    done = run_command("spotter", *words, *limit, *flags, cwd=workspace)
    assert done.returncode == 0, done.stderr
    told: Row = json.loads(done.stdout)
    return told


@pytest.mark.slow
def test_the_simulated_model_needs_fewer_rollouts(workspace: Path, run: Profiled) -> None:
    told = simulated(workspace, UNTIL, "-p", "4")
    assert told["completed_rollout_count"] + told["saved_rollout_count"] == 240
    assert told["saved_rollout_count"] > 0
    assert told["decided_task_count"] > 0
    assert_whole(run, told["completed_rollout_count"])
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0
    decided = run.query("select count(*) from task_bands where band != 'undecided'")
    assert decided[0][0] >= told["decided_task_count"]
