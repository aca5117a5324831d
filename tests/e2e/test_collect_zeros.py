"""What the agents are sent in the end, and what of their answer is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.collection.report import as_data, as_text
from collector.errors import FileError
from tests.collecting import collected, metrics_of, record_of
from tests.gym import AGENT, GymFactory, keys_of, rows_of, write_tasks
from tests.programs import run_command
from tests.support import Row

NO_PERSIST = '{"_ng_no_persist": true}'
OK = '{"reward": 1.0, "level": 3, "passed": true}'

pytestmark = pytest.mark.usefixtures("quick_retries")


def failing(name: str, **fields: Any) -> str:
    return json.dumps({"_ng_failure_class": name, **fields})


@pytest.fixture
def tasks(workspace: Path) -> Path:
    """One that is well, two that fail in their own ways, one that leaves no row."""
    rows: list[Row] = [
        {"script": [OK], "level": 3},
        {"script": ["500"], "level": 4},
        {"script": [failing("judge_failed", reward=0.25, steps=7)], "level": 5},
        {"script": [NO_PERSIST], "level": 6, "other": 1},
    ]
    return write_tasks(workspace, rows)


def test_everything_that_an_agent_answers_is_kept(start_gym: GymFactory, workspace: Path) -> None:
    (entry,) = metrics_of(collected(start_gym(), write_tasks(workspace, 2), agent_name=AGENT))
    assert entry == {
        "agent_ref": {"name": AGENT},
        "agent_metrics": {"mean/reward": 0.5, "count": 2},
        "key_metrics": {"mean/reward": 0.5},
        "group_level_metrics": [],
        "repeat_level_metrics": [{"_ng_rollout_index": 0}],
        "perf_summary": {"turns": 2.5},
        "of_tomorrow": [1],
    }


def test_failed_and_missing_rollouts_count_as_zero_if_asked_for(
    start_gym: GymFactory, tasks: Path
) -> None:
    gym = start_gym()
    result = collected(
        gym,
        tasks,
        agent_name=AGENT,
        max_attempts=1,
        count_failure_classes_as_zero=["agent_run_error", "judge_failed"],
        count_missing_rollouts_as_zero=True,
    )
    (entry,) = metrics_of(result)
    assert entry["agent_metrics"] == {"mean/reward": 1.25 / 4, "count": 4}
    assert entry["counted_as_zero"] == {"failed": 2, "missing": 1}
    assert entry["without_zeros"]["agent_metrics"] == {"mean/reward": 1.0, "count": 1}
    sent = gym.stats()["aggregated"][0]["rows"]
    assert keys_of(sent) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    agent = {"agent_ref": {"name": AGENT}, "_ng_rollout_index": 0}
    # of a task's own fields, those that real rollouts have too
    assert sent[1] == {
        **{**agent, "_ng_task_index": 1, "_ng_attempt_index": 0},
        **{"level": 4, "reward": 0.0, "mask_sample": False},
    }
    assert (sent[2]["reward"], sent[2]["steps"], sent[2]["level"]) == (0.25, 7, 5)
    assert sent[3] == {**agent, "_ng_task_index": 3, "level": 6, "reward": 0.0}
    assert "counted with a reward of 0: 2 failed and 1 missing" in as_text(result)
    assert as_data(result)["counted_as_zero"] == {"failed": 2, "missing": 1}
    settings = record_of(result)["settings"]
    assert settings["count_failure_classes_as_zero"] == ["agent_run_error", "judge_failed"]
    assert settings["count_missing_rollouts_as_zero"] is True
    assert keys_of(rows_of(result.files.rollouts)) == [(0, 0)]


def test_a_recorded_failure_is_not_missing_and_an_old_class_counts(
    start_gym: GymFactory, tasks: Path
) -> None:
    gym = start_gym()
    result = collected(gym, tasks, agent_name=AGENT, max_attempts=1)
    rows = rows_of(result.files.failures)
    rows[0]["_ng_failure_class"], rows[0]["_ng_failure_status"] = "http_5xx", 500
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    result.files.failures.write_text(lines, encoding="utf-8")
    command = ("spotter", "aggregate", "-i", "out.jsonl", "-o", "all.jsonl", gym.agent_url)
    flags = (
        "+count_missing_rollouts_as_zero=true",
        "+count_failure_classes_as_zero=[agent_run_error]",
    )
    done = run_command(*command, *flags, "--json", cwd=tasks.parent)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counted_as_zero"] == {"failed": 1, "missing": 1}
    assert told["key_metrics"] == {AGENT: {"mean/reward": 1 / 3}}


def test_the_last_attempt_decides_what_counts(start_gym: GymFactory, workspace: Path) -> None:
    script = ["500", failing("judge_failed")]
    tasks = write_tasks(workspace, [{"script": script}, {}])
    result = collected(
        start_gym(), tasks, agent_name=AGENT, count_failure_classes_as_zero=["agent_run_error"]
    )
    assert len(rows_of(result.files.failures)) == 2
    (entry,) = metrics_of(result)
    assert "counted_as_zero" not in entry


def test_a_run_in_which_all_failed_has_a_figure_too(start_gym: GymFactory, workspace: Path) -> None:
    tasks = write_tasks(workspace, [{"script": ["422"]}])
    result = collected(
        start_gym(), tasks, agent_name=AGENT, count_failure_classes_as_zero=["agent_run_error"]
    )
    (entry,) = metrics_of(result)
    assert entry["key_metrics"] == {"mean/reward": 0.0}
    assert entry["without_zeros"] is None


def test_an_agent_whose_rollouts_all_failed_is_asked_about_shards_too(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    lost: Row = {"script": ["422"], "agent_ref": {"name": "other_agent"}}
    collected(gym, write_tasks(workspace, [lost, {"agent_ref": {"name": AGENT}}]))
    command = ("spotter", "aggregate", "-i", "out.jsonl", "-o", "all.jsonl", "--json")
    flags = ("--count-failure-classes-as-zero", "agent_run_error", f"--head-port={gym.port}")
    done = run_command(*command, *flags, cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["key_metrics"] == {
        AGENT: {"mean/reward": 1.0},
        "other_agent": {"mean/reward": 0.0},
    }


def test_missing_rollouts_cannot_be_counted_without_the_inputs(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    result = collected(gym, write_tasks(workspace, 1), agent_name=AGENT)
    result.files.inputs.unlink()
    command = ("spotter", "aggregate", "-i", "out.jsonl", "-o", "all.jsonl", gym.agent_url)
    done = run_command(*command, "--count-missing-rollouts-as-zero", cwd=workspace)
    assert done.returncode == FileError.exit_code
    assert "leave out count_missing_rollouts_as_zero" in done.stderr


def test_masked_rollouts_are_told_and_not_averaged(start_gym: GymFactory, workspace: Path) -> None:
    masked = '{"reward": 0.0, "mask_sample": 1, "failure_kind": "judge_failed"}'
    tasks = write_tasks(workspace, [{"script": [masked]}, {"script": [OK]}])
    result = collected(start_gym(), tasks, agent_name=AGENT)
    assert "Masked       1 rollout, left out of every statistic: judge_failed 1" in as_text(result)
    told = as_data(result)
    assert told["masked_rollout_count"] == 1
    assert told["agents"][0]["reward_mean"] == 1.0
