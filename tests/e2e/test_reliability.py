"""Missing and failed rollouts, counted by agent and by class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import Profiled, Row, inputs_of, key, profiled, write_lines, write_run


def of(agent: str | None, task: int, rollout: int, **fields: Any) -> Row:
    named = {"agent_ref": {"name": agent}} if agent else {}
    return {**named, **fields, "_ng_task_index": task, "_ng_rollout_index": rollout}


def failure(task: int, rollout: int, kind: str | None, *, is_terminal: bool = False) -> Row:
    named = {"_ng_failure_class": kind} if kind else {}
    fields = {"_ng_failure_terminal": is_terminal, "_ng_attempt_index": 1, **named}
    return of("agent_a", task, rollout, **fields)


@pytest.fixture(scope="module")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """Agent a: 6 expected, 4 completed. Agent b: named by a rollout only. One task of nobody."""
    inputs = [of("agent_a", task, index) for task in (0, 1) for index in range(3)]
    inputs += [of(None, 2, index) for index in range(2)]
    inputs += [of(None, 3, 0)]
    inputs += [of("agent_c", 4, 0)]
    rollouts = [
        of("agent_a", 0, 0, reward=1.0),
        of("agent_a", 0, 1, reward=3.0),
        of("agent_a", 0, 2, reward=None),
        of("agent_a", 1, 0, reward=-2.0),
        of("agent_b", 2, 0, reward=0.5),
    ]
    failures = [
        failure(0, 1, "transport_timeout"),
        failure(0, 1, "transport_timeout"),
        failure(0, 1, "agent_run_error"),
        failure(0, 2, None),
        failure(1, 1, "transport_timeout"),
        failure(1, 1, "agent_request_failed", is_terminal=True),
    ]
    run = write_run(tmp_path_factory.mktemp("partial"), rollouts, inputs=inputs)
    write_lines(run.failures, failures)
    return profiled(run, "--allow-partial")


RELIABILITY: dict[str, Row] = {
    "agent_a": {
        "expected_rollout_count": 6,
        "completed_rollout_count": 4,
        "missing_rollout_count": 2,
        "unscored_rollout_count": 1,
        "failed_attempt_count": 6,
        "attempt_count": 10,
        "clean_rollout_count": 2,
        "clean_ratio": 2 / 6,
        "completion_pct": 400 / 6,
        "recovered_rollout_count": 2,
        "lost_rollout_count": 1,
        "unattempted_rollout_count": 1,
        "reward_mean": 2 / 3,
        "reward_mean_failures_as_zero": 2 / 6,
        "assumed_reward_min": -2.0,
        "assumed_reward_max": 3.0,
        "reward_mean_lowest": (2 - 3 * 2) / 6,
        "reward_mean_highest": (2 + 3 * 3) / 6,
    },
    "agent_b": {
        "expected_rollout_count": 2,
        "completed_rollout_count": 1,
        "missing_rollout_count": 1,
        "unscored_rollout_count": 0,
        "failed_attempt_count": 0,
        "attempt_count": 1,
        "clean_rollout_count": 1,
        "clean_ratio": 0.5,
        "completion_pct": 50.0,
        "recovered_rollout_count": 0,
        "lost_rollout_count": 0,
        "unattempted_rollout_count": 1,
        "reward_mean": 0.5,
        "reward_mean_failures_as_zero": 0.25,
        "assumed_reward_min": 0.0,
        "assumed_reward_max": 1.0,
        "reward_mean_lowest": 0.25,
        "reward_mean_highest": 0.75,
    },
    "agent_c": {
        "expected_rollout_count": 1,
        "completed_rollout_count": 0,
        "missing_rollout_count": 1,
        "attempt_count": 0,
        "clean_ratio": 0.0,
        "completion_pct": 0.0,
        "unattempted_rollout_count": 1,
        "reward_mean": None,
        "reward_mean_failures_as_zero": 0.0,
        "reward_mean_lowest": 0.0,
        "reward_mean_highest": 1.0,
    },
    "(unknown)": {
        "expected_rollout_count": 1,
        "completed_rollout_count": 0,
        "missing_rollout_count": 1,
        "reward_mean": None,
    },
}
FAILURES: dict[str, Row] = {
    "transport_timeout": {
        "attempt_count": 3,
        "terminal_attempt_count": 0,
        "rollout_count": 2,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 1,
    },
    "agent_run_error": {
        "attempt_count": 1,
        "terminal_attempt_count": 0,
        "rollout_count": 1,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 0,
    },
    "agent_request_failed": {
        "attempt_count": 1,
        "terminal_attempt_count": 1,
        "rollout_count": 1,
        "recovered_rollout_count": 0,
        "lost_rollout_count": 1,
    },
    "(unknown)": {
        "attempt_count": 1,
        "terminal_attempt_count": 0,
        "rollout_count": 1,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 0,
    },
}


@pytest.mark.parametrize("agent", RELIABILITY)
def test_every_expected_rollout_is_accounted_for(agent: str, partial: Profiled) -> None:
    (row,) = partial.table(f"from agent_reliability where agent_name = '{agent}'")
    found = {name: row[name] for name in RELIABILITY[agent]}
    assert found == pytest.approx(RELIABILITY[agent])


def test_nobody_else_is_accounted_for(partial: Profiled) -> None:
    assert {name for (name,) in partial.query("select agent_name from agent_reliability")} == set(
        RELIABILITY
    )


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_are_counted_by_class(kind: str, partial: Profiled) -> None:
    (row,) = partial.table(f"from failure_classes where failure_class = '{kind}'")
    assert row["agent_name"] == "agent_a"
    assert {name: row[name] for name in FAILURES[kind]} == FAILURES[kind]


def test_failed_attempts_add_up(partial: Profiled) -> None:
    assert partial.query(
        "select agent_name, sum(attempt_count) from failure_classes group by all"
    ) == [("agent_a", 6)]
    totals = partial.query(
        """select sum(expected_rollout_count), sum(completed_rollout_count),
            sum(missing_rollout_count), sum(failed_attempt_count) from agent_reliability"""
    )
    assert totals == partial.query(
        """select expected_rollout_count, completed_rollout_count, missing_rollout_count,
            failed_attempt_count from runs"""
    )
    does_not_add_up = partial.query(
        """select agent_name from agent_reliability where (
            clean_rollout_count + recovered_rollout_count = completed_rollout_count
            and lost_rollout_count + unattempted_rollout_count = missing_rollout_count
            and completed_rollout_count + missing_rollout_count = expected_rollout_count
        ) is not true"""
    )
    assert does_not_add_up == []


def test_only_completed_rollouts_have_a_health(partial: Profiled) -> None:
    found = partial.query("select task_index, rollout_index from rollout_health order by all")
    assert found == [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)]


def test_a_run_without_failures_has_no_row_of_failures(tmp_path: Path) -> None:
    rows = [key(0, 0, reward=1), key(0, 1, reward=0)]
    run = profiled(write_run(tmp_path, rows, inputs=inputs_of(rows)))
    assert run.query("select count(*) from failure_classes") == [(0,)]
    (row,) = run.table("from agent_reliability")
    assert (row["clean_ratio"], row["attempt_count"]) == (1.0, 2)
    assert row["reward_mean"] == row["reward_mean_lowest"] == row["reward_mean_highest"] == 0.5
