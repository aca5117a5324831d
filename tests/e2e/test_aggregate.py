"""`spotter aggregate`: shards become one run, and the agents see all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gym import AGENT, Gym, GymFactory, collect, keys_of, rows_of, write_tasks
from tests.programs import run_command
from tests.support import Profiled, run_profile

pytestmark = pytest.mark.usefixtures("quick_retries")


def make_shards(gym: Gym, workspace: Path) -> None:
    for shard in range(2):
        rows = [{"_ng_task_index": 2 * task + shard} for task in range(3)]
        tasks = write_tasks(workspace, rows, f"tasks{shard}.jsonl")
        output = f"shards/part{shard}.jsonl"
        assert (
            collect(gym, tasks, "-n", "2", "--disable-aggregation", output=output).returncode == 0
        )
        assert not (workspace / f"shards/part{shard}_aggregate_metrics.json").exists()


def test_shards_are_merged_and_aggregated(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    done = run_command(
        "ng_aggregate_rollouts",
        *("+input_glob=shards/part1.jsonl,shards/*.jsonl", "+output_jsonl_fpath=shards/all.jsonl"),
        f"+head_server.port={gym.port}",
        cwd=workspace,
    )
    assert (done.returncode, done.stderr) == (0, "")
    run = Profiled(workspace / "shards" / "all.jsonl")
    expected = [(task, rollout) for task in range(6) for rollout in range(2)]
    assert keys_of(rows_of(run.rollouts)) == expected
    assert keys_of(rows_of(run.inputs)) == expected
    metrics = json.loads((workspace / "shards" / "all_aggregate_metrics.json").read_text())
    assert metrics[0]["agent_metrics"]["count"] == 12
    assert keys_of(gym.stats()["aggregated"][0]["rows"]) == expected
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0


def test_parts_of_one_run_are_joined(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 7)
    for part in (1, 2, 3):
        flags = ("-n", "2", f"--shard={part}/3", "--disable-aggregation")
        assert collect(gym, tasks, *flags, output=f"part{part}.jsonl").returncode == 0
    assert collect(gym, tasks, "-n", "2", output="whole.jsonl").returncode == 0
    done = run_command(
        *("spotter", "aggregate", "-i", "part?.jsonl", "-o", "all.jsonl", gym.agent_url),
        cwd=workspace,
    )
    assert done.returncode == 0, done.stderr
    whole, joined = Profiled(workspace / "whole.jsonl"), Profiled(workspace / "all.jsonl")
    assert joined.inputs.read_bytes() == whole.inputs.read_bytes()
    assert keys_of(rows_of(joined.rollouts)) == sorted(keys_of(rows_of(whole.rollouts)))
    refused = collect(gym, tasks, "-n", "2", "--shard=4/3", output="part4.jsonl")
    assert refused.returncode == 2
    other = collect(gym, tasks, "-n", "2", "--shard=2/3", "--resume", output="part1.jsonl")
    assert "shard: it was 1/3, now 2/3" in other.stderr


def test_without_merging_only_the_metrics_are_written(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    done = run_command(
        *("spotter", "aggregate", "-i", "shards/part?.jsonl", "-o", "all.jsonl", "--json"),
        *("+merge_shards=false", f"--head-port={gym.port}"),
        cwd=workspace,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rollout_count"] == 12
    assert not (workspace / "all.jsonl").exists()
    assert (workspace / "all_aggregate_metrics.json").exists()


def test_a_rollout_in_two_shards_is_refused(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    part = workspace / "shards" / "part0.jsonl"
    (workspace / "shards" / "part2.jsonl").write_bytes(part.read_bytes().splitlines()[0] + b"\n")
    done = run_command(
        *("spotter", "aggregate", "-i", "shards/part?.jsonl", "-o", "all.jsonl", gym.agent_url),
        cwd=workspace,
    )
    assert done.returncode == 1
    assert "1 rollout in more than one shard" in done.stderr
    assert not (workspace / "all.jsonl").exists()


@pytest.mark.parametrize(
    ("pattern", "code", "named"),
    [("none*.jsonl", 4, "no rollouts file matches"), ("bad.jsonl", 4, "line 2")],
)
def test_bad_shards_are_named(
    start_gym: GymFactory, workspace: Path, pattern: str, code: int, named: str
) -> None:
    row = f'{{"_ng_task_index":0,"_ng_rollout_index":0,"agent_ref":{{"name":"{AGENT}"}}}}\n'
    (workspace / "bad.jsonl").write_text(row + "{\n", encoding="utf-8")
    gym = start_gym()
    done = run_command(
        *("spotter", "aggregate", "-i", pattern, "-o", "all.jsonl", gym.agent_url), cwd=workspace
    )
    assert done.returncode == code
    assert named in done.stderr


def test_an_earlier_file_is_not_replaced_unless_asked(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    (workspace / "all.jsonl").write_text("precious\n", encoding="utf-8")
    command = ("spotter", "aggregate", "-i", "shards/part?.jsonl", "-o", "all.jsonl", gym.agent_url)
    done = run_command(*command, cwd=workspace)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
    assert (workspace / "all.jsonl").read_text(encoding="utf-8") == "precious\n"
    assert run_command(*command, "--overwrite", cwd=workspace).returncode == 0
    assert len(rows_of(workspace / "all.jsonl")) == 12


def test_rollouts_without_an_agent_are_refused(start_gym: GymFactory, workspace: Path) -> None:
    row = '{"_ng_task_index":0,"_ng_rollout_index":0}\n'
    (workspace / "part.jsonl").write_text(row, encoding="utf-8")
    done = run_command(
        *("spotter", "aggregate", "-i", "part.jsonl", "-o", "all.jsonl", start_gym().agent_url),
        cwd=workspace,
    )
    assert done.returncode == 4
    assert "names an agent" in done.stderr


def test_a_failing_agent_keeps_what_was_merged(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym("--aggregate-status=500")
    make_shards(gym, workspace)
    done = run_command(
        *("spotter", "aggregate", "-i", "shards/part?.jsonl", "-o", "all.jsonl", gym.agent_url),
        cwd=workspace,
    )
    assert done.returncode == 3
    assert "answered 500" in done.stderr
    assert len(rows_of(workspace / "all.jsonl")) == 12


def test_an_output_that_is_a_named_shard_is_refused(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    part = workspace / "shards" / "part0.jsonl"
    before = part.read_bytes()
    (workspace / "link.jsonl").symlink_to(part)
    for output in ("shards/part0.jsonl", "link.jsonl"):
        done = run_command(
            *("spotter", "aggregate", "-i", "shards/part0.jsonl,shards/part1.jsonl"),
            *("-o", output, "--overwrite", gym.agent_url),
            cwd=workspace,
        )
        assert done.returncode == 2, done.stderr
        assert "would be replaced" in done.stderr
    assert part.read_bytes() == before


def test_an_output_that_a_pattern_matches_is_left_out_and_said(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    output = ("-o", "shards/all.jsonl", "--overwrite")
    command = ("spotter", "aggregate", "-i", "shards/*.jsonl", *output, gym.agent_url)
    assert run_command(*command, cwd=workspace).stderr == ""
    again = run_command(*command, cwd=workspace)
    assert again.returncode == 0
    assert "all.jsonl matches shards/*.jsonl, but is the output" in again.stderr
    assert len(rows_of(workspace / "shards" / "all.jsonl")) == 12


def test_files_beside_the_output_are_not_replaced_unless_asked(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    make_shards(gym, workspace)
    beside = [workspace / f"all{end}.jsonl" for end in ("_materialized_inputs", "_failures")]
    for path in beside:
        path.write_text("precious\n", encoding="utf-8")
        command = ("spotter", "aggregate", "-i", "shards/*.jsonl", "-o", "all.jsonl", gym.agent_url)
        assert run_command(*command, cwd=workspace).returncode == 2
        assert path.read_text(encoding="utf-8") == "precious\n"
        assert not (workspace / "all.jsonl").exists()
    assert run_command(*command, "--overwrite", cwd=workspace).returncode == 0
    assert len(rows_of(beside[0])) == 12
    assert not beside[1].exists(), "the failures of another run would count for this one"
