"""The faults of `spotter demo --faults`: their rates, and a summary of their effects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.terminal import counted_noun
from collector.terminal.blocks import Block, Line, Styled, TextColumn, TextTable
from collector.warehouse.queries import QueryResult, run_query

MODEL = "policy_model.responses_api_models.simulated_model"
AGENT = "workplace_assistant_simple_agent.responses_api_agents.simple_agent"
# the agent waits a little longer for its model than the collector waits for the agent
SERVER_SETTINGS = (
    f"{MODEL}.failure_rate=0.1",
    f"{MODEL}.hang_rate=0.02",
    f"{MODEL}.mask_rate=0.06",
    f"{AGENT}.request_timeout=6",
)
# the agents would need longer than this timeout to aggregate their own metrics
COLLECT_SETTINGS: dict[str, Any] = {
    "max_attempts": 2,
    "request_timeout": 5.0,
    "disable_aggregation": True,
}
FAILURES = """
select failure_class, attempt_count, recovered_rollout_count, lost_rollout_count
from failure_classes order by attempt_count desc, failure_class
"""
MASKS = """
select failure_kind, count(*) as rollouts, min(failure_reason) as reason
from rollout_infos where not is_measured
group by failure_kind order by rollouts desc, failure_kind
"""
COUNTS = """
select
    expected_rollout_count,
    missing_rollout_count,
    masked_rollout_count,
    completed_rollout_count - masked_rollout_count as measured_rollout_count
from runs
"""
FAULT_COLUMNS = (
    TextColumn(width=24),
    TextColumn(width=12, style="value"),
    TextColumn(overflow="wrap"),
)


def fault_blocks(warehouse: Path) -> Iterator[Block]:
    """Say what failed, what was masked and what is missing."""
    failures, masks, counts = (_query(warehouse, query) for query in (FAILURES, MASKS, COUNTS))
    yield Line(
        (
            Styled("Which attempts failed?", "heading"),
            " The collector tried each of these rollouts at most twice.",
        )
    )
    yield TextTable(
        FAULT_COLUMNS,
        [
            (
                kind,
                counted_noun(attempts, "attempt"),
                f"{counted_noun(recovered, 'rollout')} recovered, {lost} lost",
            )
            for kind, attempts, recovered, lost in failures.rows
        ],
        indent=2,
    )
    yield Line()
    yield Line(
        (
            Styled("Which rollouts were masked?", "heading"),
            " The infrastructure failed, so no figure includes these rollouts.",
        )
    )
    rows = [
        (kind, counted_noun(count, "rollout"), str(reason)) for kind, count, reason in masks.rows
    ]
    yield TextTable(FAULT_COLUMNS, rows, indent=2)
    ((expected, missing, masked, measured),) = counts.rows
    yield Line()
    yield Line(
        (
            f"{counted_noun(expected, 'rollout')} expected: ",
            Styled(f"{missing} missing, {masked} masked", "caution"),
            f". Every figure here covers the other {measured}.",
        )
    )


def _query(warehouse: Path, query: str) -> QueryResult:
    return run_query(warehouse, query, on_wait=lambda _: None)
