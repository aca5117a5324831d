"""Rows of tasksets are episodes of their environment server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.errors import LinesError
from tests.collecting import collected, metrics_of
from tests.gym import AGENT, GymFactory, rows_of, write_tasks
from tests.support import Row

ROUTES: Row = {"environment_server_routes": {"sums": "task_server"}}

pytestmark = pytest.mark.usefixtures("quick_retries")


def write_episodes(folder: Path, *scripts: list[Row], **fields: Any) -> Path:
    path = folder / "tasks.jsonl"
    rows = [
        {
            "task_id": {"taskset": "sums", "task_id": str(number)},
            "task_input": {"script": script, "question": "1+1"},
            **fields,
        }
        for number, script in enumerate(scripts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_an_episode_is_asked_for_and_stored(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_episodes(workspace, [{"result": {"reward": 1.0, "steps": 4}}])
    result = collected(gym, tasks, **ROUTES, num_repeats={"sums": 2})
    assert gym.stats()["bodies"][0] == {
        "episode_id": {"rollout_id": "0-0", "attempt": 0},
        "task": {
            "task_id": {"taskset": "sums", "task_id": "0"},
            "task_input": json.loads(tasks.read_text(encoding="utf-8"))["task_input"],
        },
    }
    inputs = rows_of(result.files.inputs)
    assert [row["_ng_environment_server"] for row in inputs] == ["task_server"] * 2
    _, row = sorted(rows_of(result.files.rollouts), key=lambda row: row["_ng_rollout_index"])
    assert row.pop("_spotter_latency_ms") > 0
    assert row == {
        **{"reward": 1.0, "steps": 4, "_ng_task_id": {"taskset": "sums", "task_id": "0"}},
        **{"_ng_task_index": 0, "_ng_rollout_index": 1, "_ng_environment_server": "task_server"},
    }
    (entry,) = metrics_of(result)
    assert (entry["agent_ref"], entry["_ng_environment_server"]) == (
        {"name": AGENT},
        "task_server",
    )
    assert entry["agent_metrics"]["count"] == 2
    again = collected(gym, tasks, **ROUTES, num_repeats={"sums": 3}, resume_from_cache=True)
    assert (again.completed_count, again.new_count) == (3, 1)


def test_a_failure_that_the_server_reports_goes_to_the_failures_file(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    passing = {"failure_reason": "it was busy", "terminal": False, "stage": "seed"}
    final = {
        "failure_reason": "no such task",
        "terminal": True,
        "failure_kind": "verifier_error",
    }
    tasks = write_episodes(
        workspace, [{"failure": passing}, {"result": {"reward": 0.5}}], [{"failure": final}]
    )
    result = collected(gym, tasks, **ROUTES)
    assert result.failures == {"environment_server_failed": 2}
    first, second = sorted(rows_of(result.files.failures), key=lambda row: row["_ng_task_index"])
    assert (first["_ng_failure_message"], first["_ng_failure_stage"]) == ("it was busy", "seed")
    assert (second["_ng_failure_terminal"], second["failure_kind"]) == (True, "verifier_error")
    again = collected(gym, tasks, **ROUTES, resume_from_cache=True)
    assert (again.completed_count, again.terminal_count) == (1, 1)
    (retried,) = rows_of(result.files.rollouts)
    assert retried["_ng_attempt_index"] == 1
    assert gym.stats()["bodies"][-1]["episode_id"] == {"rollout_id": "0-0", "attempt": 1}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"task_id": 7, "result": {}}, "not an episode: no episode_id and task_id"),
        ({}, "neither a result nor a failure"),
        ({"result": [1]}, "neither a result nor a failure"),
        ({"result": {"_ng_task_index": 9}}, "only collectors write: _ng_task_index"),
    ],
    ids=["no identity", "nothing", "no object", "reserved"],
)
def test_an_answer_that_is_not_an_episode_is_a_failure(
    start_gym: GymFactory, workspace: Path, answer: Row, reason: str
) -> None:
    tasks = write_episodes(workspace, [answer])
    result = collected(start_gym(), tasks, **ROUTES, max_attempts=1)
    (failure,) = rows_of(result.files.failures)
    assert failure["_ng_failure_class"] == "agent_run_error"
    assert reason in failure["_ng_failure_message"]


def test_rows_of_agents_and_tasksets_are_collected_together(
    start_gym: GymFactory, workspace: Path
) -> None:
    tasks = write_episodes(workspace, [{"result": {"reward": 1.0}}])
    with tasks.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"responses_create_params": {}}) + "\n")
    result = collected(start_gym(), tasks, **ROUTES, agent_name="other_agent")
    assert result.completed_count == 2
    servers = {row.get("_ng_environment_server") for row in rows_of(result.files.rollouts)}
    assert servers == {"task_server", None}


def test_all_rows_can_be_sent_to_one_environment_server(
    start_gym: GymFactory, workspace: Path
) -> None:
    result = collected(
        start_gym(),
        write_tasks(workspace, 1),
        environment_routing_mode="legacy",
        environment_server_name="task_server",
    )
    (row,) = rows_of(result.files.rollouts)
    assert (row["agent_ref"], row["_ng_environment_server"]) == ({"name": AGENT}, "task_server")
    assert list(rows_of(result.files.inputs)[0])[-3:] == [
        *("_ng_environment_server", "_ng_rollout_index", "agent_ref")
    ]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "no environment server for taskset sums"),
        ({**ROUTES, "num_repeats_add_seed": True}, "cannot take num_repeats_add_seed"),
        (
            {**ROUTES, "responses_create_params": {"temperature": 1}},
            "cannot take responses_create_params",
        ),
    ],
    ids=["no route", "seed", "params"],
)
def test_what_a_taskset_row_cannot_take_is_named(
    start_gym: GymFactory, workspace: Path, settings: Row, reason: str
) -> None:
    tasks = write_episodes(workspace, [{}])
    with pytest.raises(LinesError, match=reason):
        collected(start_gym(), tasks, **settings)


def test_other_rows_are_refused_if_only_tasksets_are_wanted(
    start_gym: GymFactory, workspace: Path
) -> None:
    mode: Row = {"environment_routing_mode": "taskset", **ROUTES}
    with pytest.raises(LinesError, match="not a row of a taskset"):
        collected(start_gym(), write_tasks(workspace, 1), **mode, agent_name=AGENT)
