"""Read the uploads of profiled runs from the marts, without computing anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb

from collector.artifacts import (
    AGENTS_SUFFIX,
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    PROFILING_SUFFIX,
    REPEATS_SUFFIX,
    Run,
)
from collector.profiling.profile import Outcome
from collector.uploading.content import (
    Bundle,
    CurvePoint,
    Figures,
    Upload,
    Value,
    bundle_files,
    describe_run,
)
from collector.uploading.metric_names import safe_name, safe_text
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row, fetch_rows

SETTINGS = """
    select
        is_partial_allowed, pass_threshold, answer_field, slice_by, expected_rollout_count,
        completed_rollout_count, missing_rollout_count, measured_rollout_count,
        masked_rollout_count, failed_attempt_count, completion_pct, task_count,
        complete_task_count, partial_task_count, dropped_task_count, masked_task_count,
        is_fan_out, skipped_value_count
    from runs where run_id = ?
"""
SCORES = """
    select agent_name, score, k, value, low, high, std_error
    from agent_scores where run_id = ? and slice_by = 'all'
"""
CURVE = """
    select
        k, agent_name, pass_at_k, pass_at_k_std_error, pass_at_k_low, pass_at_k_high,
        pass_hat_k, pass_hat_k_std_error, pass_hat_k_low, pass_hat_k_high,
        max_at_k, min_at_k, majority_at_k
    from pass_at_k where run_id = ? and slice_by = 'all' order by k, agent_name
"""
MEANS = "select agent_name, metric, value_mean from agent_metrics where run_id = ?"
RELIABILITY = """
    select
        agent_name, expected_rollout_count, completed_rollout_count, missing_rollout_count,
        measured_rollout_count, masked_rollout_count, unscored_rollout_count,
        failed_attempt_count, clean_rollout_count, clean_ratio, recovered_rollout_count,
        lost_rollout_count, zero_rollout_count, reward_mean_with_zeros,
        reward_mean_failures_as_zero, reward_mean_lowest, reward_mean_highest
    from agent_reliability where run_id = ?
"""
MASKS = "select agent_name, failure_kind, rollout_count from mask_kinds where run_id = ?"


def profile_uploads(outcome: Outcome, *, on_wait: Callable[[str], None]) -> list[Upload]:
    """Return one upload per profiled run."""
    with open_read_only(outcome.warehouse, on_wait=on_wait) as connection:
        return [
            Upload(
                run_id=run.run_id,
                command="profile",
                settings=_settings(connection, run),
                figures=_figures(connection, run.run_id),
                curve=_curve(connection, run.run_id),
                bundles=_bundles(run, is_published=outcome.is_published),
            )
            for run in outcome.runs
        ]


def _settings(connection: duckdb.DuckDBPyConnection, run: Run) -> dict[str, Value]:
    settings = describe_run(run.run_id, rollouts=run.rollouts, inputs=run.inputs)
    for row in fetch_rows(connection, SETTINGS, run.run_id):
        # MLflow does not accept empty texts
        settings |= {name: _plain(value) for name, value in row.items() if value not in (None, "")}
    return settings


def _plain(value: Any) -> Value:
    return value if isinstance(value, (bool, int, float)) else safe_text(str(value))


def _figures(connection: duckdb.DuckDBPyConnection, run_id: str) -> Figures:
    figures: Figures = {}
    for row in fetch_rows(connection, SCORES, run_id):
        figures |= _finite_figures(_score(row))
    for row in fetch_rows(connection, MEANS, run_id):
        name = f"means/{safe_name(row['agent_name'])}/{safe_name(row['metric'])}"
        figures |= _finite_figures([(name, row["value_mean"])])
    for row in fetch_rows(connection, RELIABILITY, run_id):
        figures |= _finite_figures(_agent_figures("reliability", row))
    for row in fetch_rows(connection, MASKS, run_id):
        name = f"masked/{safe_name(row['agent_name'])}/{safe_name(row['failure_kind'])}"
        figures |= _finite_figures([(name, row["rollout_count"])])
    return figures


def _score(row: Row) -> Iterator[tuple[str, float | None]]:
    # pass_at_k at k = 4 and at k = 8 are different scores: the name contains the k
    score = row["score"].removesuffix("k") + str(row["k"]) if row["k"] else row["score"]
    name = f"scores/{safe_name(row['agent_name'])}/{score}"
    yield name, row["value"]
    for bound in ("low", "high", "std_error"):
        yield f"{name}_{bound}", row[bound]


def _curve(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[CurvePoint]:
    steps: dict[int, Figures] = {}
    for row in fetch_rows(connection, CURVE, run_id):
        figures = steps.setdefault(row.pop("k"), {})
        figures |= _finite_figures(_agent_figures("pass_at_k", row))
    return [CurvePoint(k, figures) for k, figures in steps.items()]


def _agent_figures(section: str, row: Row) -> Iterator[tuple[str, float | None]]:
    agent = safe_name(row["agent_name"])
    for name, value in row.items():
        if name != "agent_name":
            yield f"{section}/{agent}/{name}", value


def _finite_figures(pairs: Iterable[tuple[str, float | None]]) -> Figures:
    return {name: value for name, value in pairs if value is not None and math.isfinite(value)}


def _bundles(run: Run, *, is_published: bool) -> list[Bundle]:
    artifacts = {".jsonl": run.rollouts, INPUTS_SUFFIX: run.inputs, FAILURES_SUFFIX: run.failures}
    outputs = {
        PROFILING_SUFFIX: run.profiling,
        AGENTS_SUFFIX: run.agents,
        REPEATS_SUFFIX: run.repeats,
    }
    return [
        *bundle_files("rollouts", run.rollouts, artifacts),
        *(bundle_files("profile", run.rollouts, outputs) if is_published else []),
    ]
