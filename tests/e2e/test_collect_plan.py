"""`spotter collect --plan`: a plan adds repeats to some tasks of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gym import (
    AGENT,
    Gym,
    GymFactory,
    assert_whole,
    collect,
    keys_of,
    rows_of,
    wait_for_lines,
    write_tasks,
)
from tests.programs import run_command
from tests.support import Profiled, Row, run_profile, write_lines
from tests.warm_processes import WarmProgram

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def run(workspace: Path) -> Profiled:
    return Profiled(workspace / "out.jsonl")


def write_plan(folder: Path, *lines: Row | bytes) -> Path:
    path = folder / "plan.jsonl"
    write_lines(path, lines)
    return path


def plan_words(gym: Gym, *flags: str) -> list[str]:
    return ["collect", "--plan=plan.jsonl", "-o", "out.jsonl", "--resume", gym.agent_url, *flags]


def follow(gym: Gym, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return run_command("spotter", *plan_words(gym, *flags), cwd=folder)


def repeats_of(path: Path) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for row in rows_of(path):
        name = row["_ng_task_index"], row["agent_ref"]["name"]
        counts[name] = counts.get(name, 0) + 1
    return counts


def record_of(run: Profiled) -> Row:
    record: Row = json.loads(run.rollouts.with_name("out_run.json").read_text(encoding="utf-8"))
    return record


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_plan_adds_its_repeats_and_a_second_time_nothing(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--remember")
    assert collect(gym, write_tasks(workspace, 4), "-n", "2").returncode == 0
    before = run.inputs.read_bytes()
    write_plan(
        workspace,
        {"task_index": 3, "agent_name": AGENT, "num_repeats": 5, "why": "undecided"},
        {"task_index": 1, "num_repeats": 3},
        {"task_index": 0, "num_repeats": 1},
    )
    done = follow(gym, workspace)
    assert (done.returncode, done.stderr) == (0, "plan.jsonl adds 4 rollouts to the run\n")
    assert "12/12 (100.00%)" in done.stdout
    assert_whole(run, 12)
    assert repeats_of(run.inputs) == {(0, AGENT): 2, (1, AGENT): 3, (2, AGENT): 2, (3, AGENT): 5}
    assert run.inputs.read_bytes().startswith(before)
    first, added = rows_of(run.inputs)[6], rows_of(run.inputs)[8]
    assert added == {**first, "_ng_rollout_index": 2}
    (plan,) = record_of(run)["materialized"]["plans"]
    assert (plan["path"], plan["added_rollout_count"]) == ("plan.jsonl", 4)
    again = follow(gym, workspace)
    assert again.returncode == 0
    assert "adds no rollouts" in again.stderr
    assert set(gym.stats()["seen"].values()) == {1}
    profiled = run_profile("out.jsonl", cwd=workspace)
    assert profiled.returncode == 0, profiled.stderr
    tasks = run.query(
        "select unmasked_rollout_count, measured_rollout_count from task_profiles"
        " order by task_index"
    )
    assert tasks == [(2, 2), (3, 3), (2, 2), (5, 5)]


def test_repeats_of_one_agent_go_on_after_those_of_the_others(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"agent_ref": {"name": "both"}}] * 2)
    urls = [f"--agent-url={name}={gym.url}" for name in (AGENT, "other_agent")]
    fan_out = f"--fan-out={{both: [{AGENT}, other_agent]}}"
    begin = ("collect", "-i", str(tasks), "-o", "out.jsonl", "-n", "2", fan_out, *urls)
    assert run_command("spotter", *begin, cwd=workspace).returncode == 0
    write_plan(
        workspace,
        {"task_index": 0, "agent_name": "other_agent", "num_repeats": 4},
        {"task_index": 1, "num_repeats": 3},
    )
    assert follow(gym, workspace, *urls).returncode == 0
    assert repeats_of(run.rollouts) == {
        (0, AGENT): 2,
        (0, "other_agent"): 4,
        (1, AGENT): 3,
        (1, "other_agent"): 3,
    }
    assert_whole(run, 12)
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


def test_added_repeats_have_seeds_of_their_own(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 1)
    assert collect(gym, tasks, "-n", "2", "--num-repeats-add-seed").returncode == 0
    record = run.rollouts.with_name("out_run.json")
    write_plan(workspace, {"task_index": 0, "num_repeats": 3})
    assert follow(gym, workspace).returncode == 0
    record.unlink()  # as a run of NeMo Gym's collector
    write_plan(workspace, {"task_index": 0, "num_repeats": 4})
    assert follow(gym, workspace).returncode == 0
    bodies = [row["responses_create_params"]["metadata"] for row in rows_of(run.inputs)]
    assert [json.loads(body["extra_body"])["seed"] for body in bodies] == [0, 1, 2, 3]
    assert_whole(run, 4)


def test_a_row_keeps_its_text(start_gym: GymFactory, workspace: Path, run: Profiled) -> None:
    gym = start_gym()
    assert collect(gym, write_tasks(workspace, 1)).returncode == 0
    run.rollouts.with_name("out_run.json").unlink()
    text = run.inputs.read_text(encoding="utf-8").strip()
    spaced = text.replace('"_ng_rollout_index":0', '"x": 1.50e+01, "_ng_rollout_index": 0')
    run.inputs.write_text(spaced, encoding="utf-8")  # without the last newline
    write_plan(workspace, {"task_index": 0, "num_repeats": 2})
    assert follow(gym, workspace).returncode == 0
    first, second = run.inputs.read_text(encoding="utf-8").splitlines()
    assert second == first.replace('"_ng_rollout_index": 0', '"_ng_rollout_index": 1')


def test_only_the_missing_rollouts_of_planned_tasks_are_run(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    failing = ['{"_ng_failure_class": "transient"}', "ok"]
    tasks = write_tasks(workspace, [{"script": failing}, {"script": failing}, {}])
    assert collect(gym, tasks).returncode == 3
    write_plan(workspace, {"task_index": 1, "num_repeats": 2})
    done = follow(gym, workspace, "--max-attempts=5")
    assert sorted(keys_of(rows_of(run.rollouts))) == [(1, 0), (2, 0)]
    assert "1 rollout of 4 missing" in done.stderr  # the new one, which fails at first too
    assert follow(gym, workspace, "--max-attempts=5").returncode == 0
    done = follow(gym, workspace, "--json")
    told = json.loads(done.stdout)
    assert (told["missing_rollout_count"], told["unplanned_rollout_count"]) == (1, 1)
    assert "Not in the plan: 1 missing rollout" in follow(gym, workspace).stdout
    assert gym.stats()["seen"] == {"0:0": 1, "1:0": 2, "1:1": 2, "2:0": 1}
    assert collect(gym, tasks, "--resume").returncode == 0
    assert_whole(run, 4)


def test_the_run_can_be_resumed_but_not_grown_in_another_way(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    assert collect(gym, tasks, "-n", "2").returncode == 0
    write_plan(workspace, {"task_index": 1, "num_repeats": 4})
    assert follow(gym, workspace).returncode == 0
    assert collect(gym, tasks, "-n", "2", "--resume").returncode == 0
    assert_whole(run, 6)
    grown = collect(gym, tasks, "-n", "3", "--resume")
    assert grown.returncode == 2
    assert "cannot change after a plan; add repeats with --plan" in grown.stderr
    assert_whole(run, 6)


def test_a_kill_between_the_inputs_and_their_record_is_survived(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    assert collect(gym, tasks).returncode == 0
    old_inputs, old = run.inputs.read_bytes(), record_of(run)
    write_plan(workspace, {"task_index": 1, "num_repeats": 3})
    assert follow(gym, workspace).returncode == 0
    new_inputs, new = run.inputs.read_bytes(), record_of(run)
    announced = {**old, "following": new["materialized"]}
    first = run.rollouts.read_bytes().splitlines(keepends=True)[:2]
    for inputs in (old_inputs, new_inputs):
        for command in (plan_words(gym), None):
            run.rollouts.with_name("out_run.json").write_text(json.dumps(announced))
            run.inputs.write_bytes(inputs)
            run.rollouts.write_bytes(b"".join(first))
            if command:
                assert run_command("spotter", *command, cwd=workspace).returncode == 0
                assert_whole(run, 4)
                assert record_of(run)["materialized"] == new["materialized"]
            else:
                assert collect(gym, tasks, "--resume").returncode == 0
                assert_whole(run, len(inputs.splitlines()))
            assert record_of(run)["following"] is None


def test_a_killed_plan_is_completed_by_the_same_command(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--latency=0.02")
    assert collect(gym, write_tasks(workspace, 2)).returncode == 0
    write_plan(workspace, {"task_index": 0, "num_repeats": 40})
    program = Path(sys.executable).with_name("spotter")
    for count in (5, 20):
        process = WarmProgram(
            [str(program), *plan_words(gym, "-p", "2")],
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_lines(run.rollouts, count)
        process.kill()
        process.communicate(timeout=60)
    assert follow(gym, workspace).returncode == 0
    assert_whole(run, 41)
    assert len(record_of(run)["materialized"]["plans"]) == 1
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


@pytest.mark.parametrize(
    ("lines", "reasons"),
    [
        ([{"task_index": 7, "num_repeats": 2}], ["the run has no task 7 (line 1)"]),
        (
            [
                {"task_index": 0, "num_repeats": 0},
                {"task_index": "1", "num_repeats": 2},
                {"num_repeats": 2},
            ],
            [
                "num_repeats is not a number from 1 to 1,048,576: the repeats in total (line 1)",
                "task_index is not the index of a task of the run (line 2)",
                "no task_index (line 3)",
            ],
        ),
        ([{"task_index": 0, "num_repeats": 2}, b"{task"], ["not JSON", "(line 2)"]),
        (
            [{"task_index": 0, "num_repeats": 2, "agent_name": "my_agnt"}],
            ["task 0 did not run on agent my_agnt; did you mean my_agent? (line 1)"],
        ),
        (
            [{"task_index": 0, "num_repeats": 2, "agent_name": "zzz"}],
            ["task 0 did not run on agent zzz (it ran on my_agent) (line 1)"],
        ),
        (
            [{"task_index": 0, "num_repeats": 9}, {"task_index": 5, "num_repeats": 2}],
            ["task 5 has different rows, so it is not clear which to repeat (line 2)"],
        ),
        (
            [{"task_index": 0, "num_repeats": 2, "task_id": "0" * 32}],
            ["task 0 of the run has another content than task_id says (line 1)", "another run"],
        ),
    ],
    ids=["task", "types", "json", "agent", "other_agent", "mixed", "task_id"],
)
def test_a_plan_that_does_not_fit_changes_nothing(
    start_gym: GymFactory, workspace: Path, lines: list[Row | bytes], reasons: list[str]
) -> None:
    gym = start_gym()
    rows = [{"_ng_task_index": index} for index in (0, 1, 5, 5)]
    assert collect(gym, write_tasks(workspace, rows)).returncode == 0
    write_plan(workspace, *lines)
    before = content_of(workspace)
    done = follow(gym, workspace)
    assert done.returncode == 4
    for reason in ["of plan.jsonl cannot be used", *reasons, "then give the same command again"]:
        assert reason in done.stderr
    assert content_of(workspace) == before


def test_the_task_id_of_the_warehouse_fits(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    rows = [{"price": 1.50, "text": "é\n", "nested": {"b": [1e-7], "a": None}}, {}]
    assert collect(gym, write_tasks(workspace, rows), "-n", "2").returncode == 0
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0
    ids = run.query("select task_index, agent_name, task_id from task_profiles")
    plan = [
        {"task_index": task, "agent_name": agent, "task_id": task_id, "num_repeats": 3}
        for task, agent, task_id in ids
    ]
    write_plan(workspace, *plan)
    done = follow(gym, workspace)
    assert done.returncode == 0, done.stderr
    assert_whole(run, 6)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["-o", "out.jsonl"], "spotter collect --plan plan.jsonl -o out.jsonl --resume"),
        (["-o", "out.jsonl", "--resume", "-i", "tasks.jsonl", "-n", "3"], "leave out"),
        (["-o", "out.jsonl", "--resume", "--shard", "1/2"], "leave out shard"),
        (["-o", "out.jsonl", "--resume", "--serve", "--split", "train"], "--split"),
        (["-o", "new.jsonl", "--resume"], "there is no run to add repeats to"),
        (["-o", "plan.jsonl", "--resume"], "would be overwritten"),
    ],
    ids=["resume", "input", "shard", "split", "no_run", "own_file"],
)
def test_a_plan_refuses_what_contradicts_it(
    start_gym: GymFactory, workspace: Path, flags: list[str], named: str
) -> None:
    gym = start_gym()
    assert collect(gym, write_tasks(workspace, 2)).returncode == 0
    write_plan(workspace, {"task_index": 1, "num_repeats": 3})
    before = content_of(workspace)
    words = ("collect", "--plan=plan.jsonl", gym.agent_url, *flags)
    done = run_command("spotter", *words, cwd=workspace)
    assert done.returncode in (2, 4)
    assert named in done.stderr
    assert content_of(workspace) == before
