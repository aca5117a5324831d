"""`spotter reverify`: stored responses get new verdicts, in a new run beside the old one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.gym import AGENT, Gym, GymFactory, keys_of, rows_of, wait_for_lines
from tests.programs import run_command
from tests.servers import ARITHMETIC, SIMULATED, RunningGym, running_gym
from tests.support import Profiled, Row, write_lines, write_run
from tests.warm_processes import WarmProgram

pytestmark = pytest.mark.usefixtures("quick_retries")


def stored(task: int, rollout: int = 0, agent: str = AGENT, **fields: Any) -> Row:
    """Return a stored rollout, with everything that a verifier and a collector leave in it."""
    params = {"input": f"question {task}"}
    return {
        "responses_create_params": params,
        "response": {"output": [], "usage": {"total_tokens": 7}},
        "reward": 0.0,
        "old_judge": "harsh",
        "ng_perf": {"num_turns": 3},
        "_spotter_latency_ms": 4200.5,
        "agent_ref": {"name": agent},
        "_ng_task_index": task,
        "_ng_rollout_index": rollout,
        **fields,
    }


def write_stored(folder: Path, rollouts: Iterable[Row], **inputs: Row) -> Profiled:
    """Write a run whose input rows have these fields, by task index."""
    rows = list(rollouts)
    names = ("agent_ref", "responses_create_params", "_ng_task_index", "_ng_rollout_index")
    given = [
        {**{name: row[name] for name in names}, **inputs.get(f"task_{row['_ng_task_index']}", {})}
        for row in rows
    ]
    return write_run(folder, rows, inputs=given, name="old")


def reverify(
    gym: Gym | RunningGym, folder: Path, *flags: str, output: str = "new.jsonl"
) -> subprocess.CompletedProcess[str]:
    return run_command("spotter", *words(gym, *flags, output=output), cwd=folder)


def words(gym: Gym | RunningGym, *flags: str, output: str = "new.jsonl") -> list[str]:
    port = gym.port if isinstance(gym, Gym) else gym.head_port
    return ["reverify", "old.jsonl", "-o", output, f"--head-port={port}", *flags]


def origin_of(folder: Path) -> Row:
    origin: Row = json.loads((folder / "new_run.json").read_text(encoding="utf-8"))["origin"]
    return origin


@pytest.fixture
def new(workspace: Path) -> Profiled:
    return Profiled(workspace / "new.jsonl")


def test_a_new_verdict_takes_the_place_of_the_old_one_and_the_rest_stays(
    start_gym: GymFactory, workspace: Path, new: Profiled
) -> None:
    gym = start_gym()
    old = write_stored(
        workspace,
        [
            stored(0),
            stored(1, mask_sample=True, failure_kind="judge_failed", failure_reason="it hung"),
        ],
        task_0={"verdict": {"reward": 0.5, "old_judge": "mild", "new_judge": 1}},
    )
    before = old.rollouts.read_bytes()
    done = reverify(gym, workspace)
    assert (done.returncode, done.stderr) == (0, "")
    assert "To compare the verdicts: spotter compare old.jsonl new.jsonl" in done.stdout
    first, second = sorted(rows_of(new.rollouts), key=lambda row: int(row["_ng_task_index"]))
    assert (first["reward"], first["old_judge"], first["new_judge"]) == (0.5, "mild", 1)
    assert first["response"] == {"output": [], "usage": {"total_tokens": 7}}
    assert first["ng_perf"] == {"num_turns": 3}
    assert first["_spotter_latency_ms"] == 4200.5  # not the time of the verdict
    assert second["reward"] == 1.0
    assert not {"mask_sample", "failure_kind", "failure_reason"} & second.keys()
    assert second["old_judge"] == "harsh"  # the new verdict says nothing about it
    assert old.rollouts.read_bytes() == before
    assert rows_of(new.inputs) == rows_of(old.inputs)
    sent = gym.stats()["bodies"]
    assert sorted(keys_of(sent)) == [(0, 0), (1, 0)]
    assert all(row["response"]["usage"] == {"total_tokens": 7} for row in sent)
    assert not any("reward" in row or "mask_sample" in row for row in sent)


def test_the_record_names_the_origin(start_gym: GymFactory, workspace: Path) -> None:
    old = write_stored(workspace, [stored(0)])
    assert reverify(start_gym(), workspace).returncode == 0
    text = (workspace / "new_run.json").read_text(encoding="utf-8")
    assert "sk-test" not in text
    origin = origin_of(workspace)
    assert origin["rollouts"]["path"] == str(old.rollouts)
    assert len(origin["rollouts"]["sha256"]) == 64
    assert origin["verifiers"]["my_verifier"]["reverify_mode"] == "stateless"
    assert not origin["is_unsafe"]
    assert json.loads(text)["sessions"][0]["made_by"] == "reverify"


def test_the_digest_tells_configs_apart_but_not_addresses(
    start_gym: GymFactory, workspace: Path
) -> None:
    write_stored(workspace, [stored(0)])
    digests = []
    for judge in ("a judge", "a judge", "another judge"):
        assert reverify(start_gym("--judge", judge), workspace, "--overwrite").returncode == 0
        digests.append(origin_of(workspace)["verifiers"]["my_verifier"]["config_sha256"])
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("mode", ["unsupported", "unknown", "nonsense"])
def test_only_a_stateless_verifier_is_called_without_force(
    start_gym: GymFactory, workspace: Path, new: Profiled, mode: str
) -> None:
    gym = start_gym("--reverify-mode", mode)
    write_stored(workspace, [stored(0)])
    refused = reverify(gym, workspace)
    assert refused.returncode == 2
    assert "my_verifier (un" in refused.stderr
    assert "--force" in refused.stderr
    assert not list(workspace.glob("new*"))
    assert gym.stats()["bodies"] == []
    assert reverify(gym, workspace, "--force").returncode == 0
    assert len(rows_of(new.rollouts)) == 1
    assert origin_of(workspace)["is_unsafe"]


def test_failed_verdicts_are_kept_and_tried_again(
    start_gym: GymFactory, workspace: Path, new: Profiled
) -> None:
    judge = json.dumps({"_ng_failure_class": "judge_failed", "reason": "no answer"})
    write_stored(
        workspace,
        [stored(task) for task in range(5)],
        task_0={"verify_script": ["500", "ok"]},
        task_1={"verify_script": ["422"]},
        task_2={"verify_script": [judge]},
        task_3={"verify_script": ['{"no_reward": 1}']},
    )
    gym = start_gym()
    done = reverify(gym, workspace, "--max-attempts", "2")
    assert done.returncode == 3
    assert "3 rollouts of 5 missing" in done.stderr
    assert sorted(key[0] for key in keys_of(rows_of(new.rollouts))) == [0, 4]
    failures = rows_of(new.failures)
    kinds = sorted((row["_ng_task_index"], row["_ng_failure_class"]) for row in failures)
    assert kinds == [
        (0, "verifier_error"),
        (1, "verifier_error"),
        (2, "judge_failed"),
        *[(3, "verifier_error")] * 2,
    ]
    (refused,) = (row for row in failures if row["_ng_task_index"] == 1)
    assert refused["_ng_failure_terminal"]
    assert "the resources server of my_agent, task 1" in refused["_ng_failure_message"]
    assert any(
        "the verdict has no reward" in row.get("_ng_failure_message", "") for row in failures
    )
    (judged,) = (row for row in failures if row["_ng_task_index"] == 2)
    assert judged["response"]["usage"] == {"total_tokens": 7}  # to be verified again some day


def test_a_rollout_without_a_response_is_a_failure_with_its_reason(
    start_gym: GymFactory, workspace: Path, new: Profiled
) -> None:
    bare = stored(0)
    del bare["response"]
    write_stored(workspace, [bare, stored(1, response=None), stored(2)])
    gym = start_gym()
    assert reverify(gym, workspace).returncode == 3
    assert keys_of(rows_of(new.rollouts)) == [(2, 0)]
    failures = rows_of(new.failures)
    assert sorted(keys_of(failures)) == [(0, 0), (1, 0)]
    assert all("has no response" in row["_ng_failure_message"] for row in failures)
    assert all(row["_ng_failure_terminal"] for row in failures)
    assert keys_of(gym.stats()["bodies"]) == [(2, 0)]


def test_only_rollouts_whose_judge_failed_are_verified_and_the_rest_is_carried_over(
    start_gym: GymFactory, workspace: Path, new: Profiled
) -> None:
    gym = start_gym()
    failed = stored(
        2, _ng_failure_class="judge_failed", elapsed_seconds=3.0, _ng_failure_message="x"
    )
    other = stored(3, _ng_failure_class="agent_timeout")
    recovered = stored(0, _ng_failure_class="judge_failed")
    old = write_stored(
        workspace,
        [stored(0), stored(1, mask_sample=True, failure_kind="judge_failed"), failed, other],
    )
    write_lines(old.rollouts, rows_of(old.rollouts)[:2])
    write_lines(old.failures, [failed, failed, other, recovered])
    assert reverify(gym, workspace, "--judge-failed-only").returncode == 0
    assert sorted(keys_of(gym.stats()["bodies"])) == [(1, 0), (2, 0)]
    rows = {row["_ng_task_index"]: row for row in rows_of(new.rollouts)}
    assert sorted(rows) == [0, 1, 2]
    assert rows[0] == rows_of(old.rollouts)[0]
    assert rows[2]["reward"] == 1.0
    assert "elapsed_seconds" not in rows[2]
    assert not any(name.startswith("_ng_fail") for name in rows[2])
    assert sorted(keys_of(rows_of(new.inputs))) == [(0, 0), (1, 0), (2, 0)]
    assert origin_of(workspace)["judge_failed_only"]
    write_lines(new.rollouts, rows_of(new.rollouts)[1:])  # killed before all were carried over
    assert reverify(gym, workspace, "--judge-failed-only", "--resume").returncode == 0
    assert {row["_ng_task_index"]: row for row in rows_of(new.rollouts)} == rows
    assert len(gym.stats()["bodies"]) == 2


def test_a_limit_takes_the_first_rollouts_and_can_grow(
    start_gym: GymFactory, workspace: Path, new: Profiled
) -> None:
    gym = start_gym()
    write_stored(workspace, [stored(task) for task in (3, 1, 2, 0)])
    assert reverify(gym, workspace, "--limit", "2").returncode == 0
    assert sorted(keys_of(rows_of(new.rollouts))) == [(1, 0), (3, 0)]
    assert sorted(keys_of(rows_of(new.inputs))) == [(1, 0), (3, 0)]
    assert reverify(gym, workspace, "--limit", "3", "--resume").returncode == 0
    assert sorted(keys_of(rows_of(new.rollouts))) == [(1, 0), (2, 0), (3, 0)]
    shrunk = reverify(gym, workspace, "--limit", "1", "--resume")
    assert shrunk.returncode == 2
    assert "limit: it was 3, and can only grow" in shrunk.stderr
    assert reverify(gym, workspace, "--resume").returncode == 0
    assert len(rows_of(new.rollouts)) == 4
    assert len(gym.stats()["bodies"]) == 4


def test_the_stored_run_is_never_written(start_gym: GymFactory, workspace: Path) -> None:
    old = write_stored(workspace, [stored(0)])
    (workspace / "link.jsonl").hardlink_to(old.rollouts)
    before = {path: path.read_bytes() for path in workspace.iterdir()}
    gym = start_gym()
    for output in ("old.jsonl", "../" + workspace.name + "/old.jsonl", "link.jsonl"):
        refused = reverify(gym, workspace, "--overwrite", output=output)
        assert refused.returncode == 2
        assert "belongs to the run that is verified again" in refused.stderr
    assert {path: path.read_bytes() for path in workspace.iterdir()} == before


def test_an_output_is_not_replaced_without_being_told_to(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    write_stored(workspace, [stored(0)])
    assert reverify(gym, workspace).returncode == 0
    again = reverify(gym, workspace)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    assert reverify(gym, workspace, "--overwrite").returncode == 0
    assert reverify(gym, workspace, "--overwrite", "--resume").returncode == 2


def test_a_run_is_resumed_only_as_it_began(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    old = write_stored(workspace, [stored(0), stored(1)])
    assert reverify(gym, workspace, "--limit", "1").returncode == 0
    collected = run_command(
        *("spotter", "collect", "-a", AGENT, "-i", "old_materialized_inputs.jsonl"),
        *("-o", "new.jsonl", gym.agent_url, "--resume"),
        cwd=workspace,
    )
    assert collected.returncode == 2
    assert "made by `spotter reverify`" in collected.stderr
    judged = start_gym("--judge", "another judge")
    changed = reverify(judged, workspace, "--resume")
    assert changed.returncode == 2
    assert "the config of the resources server my_verifier is another one now" in changed.stderr
    write_lines(old.rollouts, [stored(0, reward=1.0), stored(1)])
    changed = reverify(gym, workspace, "--resume")
    assert changed.returncode == 2
    assert "has other content" in changed.stderr
    (workspace / "new_run.json").unlink()
    assert "was not made by `spotter reverify`" in reverify(gym, workspace, "--resume").stderr


@pytest.mark.parametrize(
    ("break_it", "code", "text"),
    [
        (lambda run: run.rollouts.unlink(), 4, "no file at"),
        (lambda run: run.inputs.unlink(), 4, "no file at"),
        (lambda run: run.rollouts.write_bytes(b""), 4, "nothing to verify again"),
        (lambda run: run.rollouts.write_bytes(b'{"torn": '), 4, "1 line of"),
        (lambda run: write_lines(run.rollouts, [stored(0), stored(0)]), 4, "an earlier line has"),
        (lambda run: write_lines(run.inputs, []), 1, "1 rollout of"),
        (lambda run: write_lines(run.inputs, [stored(0), stored(0)]), 1, "0:0 twice"),
        (lambda run: write_lines(run.inputs, [stored(0, agent="lost_agent")]), 2, "lost_agent"),
    ],
    ids=[
        "rollouts",
        "inputs",
        "empty",
        "torn",
        "twice",
        "unmatched",
        "inputs twice",
        "no verifier",
    ],
)
def test_bad_input_leaves_nothing_behind(
    start_gym: GymFactory, workspace: Path, break_it: Any, code: int, text: str
) -> None:
    break_it(write_stored(workspace, [stored(0)]))
    refused = reverify(start_gym(), workspace)
    assert refused.returncode == code, refused.stderr
    assert text in refused.stderr
    assert not list(workspace.glob("new*"))


def test_without_judge_failures_there_is_nothing_to_do(
    start_gym: GymFactory, workspace: Path
) -> None:
    write_stored(workspace, [stored(0)])
    done = reverify(start_gym(), workspace, "--judge-failed-only")
    assert done.returncode == 4
    assert "has no rollouts whose judge failed" in done.stderr


def test_overrides_of_nemo_gym_work(start_gym: GymFactory, workspace: Path, new: Profiled) -> None:
    gym = start_gym()
    write_stored(workspace, [stored(0), stored(1)])
    done = run_command(
        *("spotter", "reverify", "+rollouts_jsonl_fpath=old.jsonl", "+limit=1"),
        *("+output_jsonl_fpath=new.jsonl", f"+head_server.port={gym.port}"),
        *("+materialized_inputs_jsonl_fpath=old_materialized_inputs.jsonl", "+force=false"),
        cwd=workspace,
    )
    assert done.returncode == 0, done.stderr
    assert len(rows_of(new.rollouts)) == 1
    assert run_command("spotter", "reverify", "-o", "x.jsonl", cwd=workspace).returncode == 2


def sums(count: int) -> list[Row]:
    """Return stored answers to sums, every third of them wrong."""
    rows = []
    for task in range(count):
        text = f"Answer: {task + 1 + (task % 3 == 0)}"
        message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
        rows.append(
            stored(task, agent="arithmetic_simple_agent", response={"output": [message]})
            | {"expected_answer": str(task + 1), "reward": 1.0}
        )
    return rows


def test_every_rollout_is_verified_once_by_the_embedded_gym_even_after_a_kill(
    workspace: Path, new: Profiled
) -> None:
    rows = sums(300)
    write_run(workspace, rows, inputs=[_input_of(row) for row in rows], name="old")
    with running_gym("-c", ARITHMETIC, "-c", SIMULATED, cwd=workspace) as gym:
        program = Path(sys.executable).with_name("spotter")
        process = WarmProgram(
            [str(program), *words(gym, "-p", "1")],
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_lines(new.rollouts, 5)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        killed_at = len(new.rollouts.read_bytes().splitlines())
        assert killed_at < 300
        done = reverify(gym, workspace, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new_rollout_count"] >= 300 - killed_at
    verified = rows_of(new.rollouts)
    assert sorted(keys_of(verified)) == keys_of(rows)
    assert all(row["reward"] == float(row["_ng_task_index"] % 3 != 0) for row in verified)
    assert all(row["mask_sample"] is False for row in verified)


def _input_of(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("response", "reward")}
