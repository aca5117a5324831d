"""A session that has only so much time ends in time, and the next one goes on."""

from __future__ import annotations

import json
from pathlib import Path

from collector.collection.report import as_text
from tests.collecting import collected, record_of
from tests.gym import AGENT, GymFactory, collect, keys_of, rows_of, write_tasks
from tests.support import Row


def test_rollouts_that_do_not_fit_are_left_for_the_next_session(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{}, {"seconds": 3.5}, {}, {}])
    flags = ("-p", "1", "--dispatch-budget-s=6", "--drain-margin-s=3")
    done = collect(gym, tasks, *flags)
    assert done.returncode == 0, done.stderr
    assert "Out of time: 2 rollouts left to run." in done.stdout
    assert "with --resume" in done.stdout
    out = workspace / "out.jsonl"
    assert keys_of(rows_of(out)) == [(0, 0), (1, 0)]  # the margin let it finish
    # a session that gets nowhere did not go as planned, whatever earlier ones collected
    assert collect(gym, tasks, "--dispatch-budget-s=0", "--resume").returncode == 3
    assert collect(gym, tasks, *flags, "--resume").returncode == 0
    assert sorted(keys_of(rows_of(out))) == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_a_rollout_that_hangs_is_given_up_when_the_time_is_over(
    start_gym: GymFactory, workspace: Path
) -> None:
    tasks = write_tasks(workspace, [{"script": ["hang"]}, {}])
    result = collected(
        start_gym(), tasks, agent_name=AGENT, dispatch_budget_s=0.5, grace_period=3600
    )
    assert result.is_out_of_time  # nothing outlives the budget, however long the grace period is
    assert record_of(result)["sessions"][0]["status"] == "out_of_time"
    assert keys_of(rows_of(result.files.rollouts)) == [(1, 0)]
    assert not result.files.failures.exists()  # it may be run again as often as before


def test_a_run_that_ends_in_time_is_complete(start_gym: GymFactory, workspace: Path) -> None:
    tasks = write_tasks(workspace, 3)
    result = collected(start_gym(), tasks, agent_name=AGENT, dispatch_budget_s=60)
    assert (result.status, result.is_out_of_time) == ("complete", False)
    assert "Out of time" not in as_text(result)


def test_a_complete_run_can_be_required(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    done = collect(gym, tasks, "+dispatch_budget_s=0", "+require_complete=true", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "out_of_time"
    assert gym.stats()["seen"] == {}
    # nor is a session that never gets anywhere as planned
    assert collect(gym, tasks, "--dispatch-budget-s=0", "--resume").returncode == 3


def test_what_failed_for_good_is_not_excused_by_the_time(
    start_gym: GymFactory, workspace: Path
) -> None:
    rows: list[Row] = [{"script": ["422"]}, {"seconds": 1}, {}]
    flags = ("-p", "1", "--dispatch-budget-s=4", "--drain-margin-s=3.5")
    done = collect(start_gym(), write_tasks(workspace, rows), *flags)
    assert done.returncode == 3
    assert "2 rollouts of 3 missing" in done.stderr


def test_the_longest_are_resumed_first(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym("--remember")
    rows: list[Row] = [
        {"script": ['{"_ng_no_persist": true}', "ok"]},
        {"script": ["404", "ok"], "seconds": 0.05},
        {"script": ["404", "ok"], "seconds": 0.5},
    ]
    tasks = write_tasks(workspace, rows)
    settings: Row = {"agent_name": AGENT, "num_samples_in_parallel": 1}
    result = collected(gym, tasks, **settings)
    assert [row["elapsed_seconds"] > 0.4 for row in rows_of(result.files.failures)] == [False, True]
    collected(gym, tasks, **settings, resume_from_cache=True, dispatch_longest_first=True)
    assert keys_of(gym.stats()["bodies"][3:]) == [(2, 0), (1, 0), (0, 0)]


def test_timeouts_that_an_agent_called_terminal_are_tried_again_if_asked_for(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    timeout = '{"_ng_failure_class": "timeout_exceeded", "_ng_failure_terminal": true}'
    skipped = '{"_ng_failure_class": "skipped"}'
    tasks = write_tasks(workspace, [{"script": [timeout]}, {"script": [skipped]}, {}])
    collected(gym, tasks, agent_name=AGENT)
    collected(gym, tasks, agent_name=AGENT, resume_from_cache=True)
    assert gym.stats()["seen"] == {"0:0": 1, "1:0": 2, "2:0": 1}
    retried: Row = {"resume_from_cache": True, "retry_terminal_timeouts": True}
    collected(gym, tasks, agent_name=AGENT, **retried)
    assert gym.stats()["seen"] == {"0:0": 2, "1:0": 2, "2:0": 1}
