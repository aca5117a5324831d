"""Read the headlines of a profile: the figures of each agent that a person looks at first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import duckdb

from collector.warehouse.access import WAREHOUSE
from collector.warehouse.sql import Row, fetch_rows

LABELS = {
    "mean_reward": "mean reward",
    "pass_rate": "pass@1",
    "pass_at_k": "pass@{k}",
    "pass_hat_k": "pass^{k}",
    "max_at_k": "best of {k}",
    "min_at_k": "worst of {k}",
    "majority_at_k": "majority@{k}",
}
FINDINGS = {
    "is_output_empty": "with empty output",
    "is_truncated": "truncated",
    "is_usage_missing": "without usage",
    "is_response_repeated": "that repeat a response and do not pass",
    "is_verdict_inconsistent": "whose answer got different rewards in its task",
    "is_ground_truth_suspect": "of tasks that nobody solves although the answers agree",
    "is_reward_contradicted": "whose verifier says something else than the reward",
    "is_tool_call_open": "with a tool call that has no result",
    "is_final_answer_empty": "with an empty final answer after tool calls",
    "is_turn_limit_reached": "that stopped at the most turns, without an answer",
    "is_failure_reported": "measured, although a failure is reported",
}
ORDER = "list_position(" + str(list(LABELS)) + ", score)"
# the viewer asks for one agent with the same two queries
BANDS = """
    select
        agent_name, band, count(*) as task_count,
        count(*) filter (is_informative) as informative_task_count
    from {schema}task_bands where {condition}
    group by agent_name, band order by agent_name, band
"""
HEALTH = """
    select
        agent_name,
        count(*) filter (is_output_empty) as is_output_empty,
        count(*) filter (is_truncated) as is_truncated,
        count(*) filter (is_usage_missing) as is_usage_missing,
        count(*) filter (is_response_repeated and is_passing is not true) as is_response_repeated,
        count(*) filter (is_verdict_inconsistent) as is_verdict_inconsistent,
        count(*) filter (is_ground_truth_suspect) as is_ground_truth_suspect,
        count(*) filter (is_reward_contradicted) as is_reward_contradicted,
        count(*) filter (is_tool_call_open) as is_tool_call_open,
        count(*) filter (is_final_answer_empty) as is_final_answer_empty,
        count(*) filter (is_turn_limit_reached) as is_turn_limit_reached,
        count(*) filter (is_failure_reported) as is_failure_reported,
        count(*) filter (finding_count > 0) as rollout_count
    from {schema}rollout_health where {condition}
    group by agent_name order by agent_name
"""
QUERIES = {
    "scores": f"""
        select * from {WAREHOUSE}.main.agent_scores where run_id = ?
        order by agent_name, slice_by != 'all', slice_by, slice_value, {ORDER}
    """,
    "reliability": f"""
        select * from {WAREHOUSE}.main.agent_reliability where run_id = ? order by agent_name
    """,
    "failures": f"""
        select * from {WAREHOUSE}.main.failure_classes where run_id = ?
        order by agent_name, attempt_count desc, failure_class
    """,
    "masks": f"""
        select * from {WAREHOUSE}.main.mask_kinds where run_id = ?
        order by agent_name, rollout_count desc, failure_kind
    """,
    "efforts": f"""
        select * from {WAREHOUSE}.main.agent_efforts where run_id = ? order by agent_name
    """,
    "spreads": f"""
        select * from {WAREHOUSE}.main.reward_spreads
        where run_id = ? and (is_threshold_doubtful or is_constant)
        order by agent_name, slice_by != 'all', slice_by, slice_value
    """,
    "bands": BANDS.format(schema=f"{WAREHOUSE}.main.", condition="run_id = ?"),
    "health": HEALTH.format(schema=f"{WAREHOUSE}.main.", condition="run_id = ?"),
}


@dataclass(frozen=True)
class Headlines:
    """The rows of the statistics marts that belong to one run."""

    scores: list[Row]
    reliability: list[Row]
    failures: list[Row]
    masks: list[Row]
    efforts: list[Row]
    spreads: list[Row]
    """Only those that are doubtful: none or nearly none passes, or all are the same."""
    bands: list[Row]
    health: list[Row]

    def agents(self) -> list[str]:
        """Return the names of the agents in order."""
        return [row["agent_name"] for row in self.reliability]

    def only(self, agent: str) -> Headlines:
        """Return the headlines of one agent."""
        return Headlines(
            **{
                name: [row for row in getattr(self, name) if row["agent_name"] == agent]
                for name in QUERIES
            }
        )


def read_headlines(connection: duckdb.DuckDBPyConnection, run_id: str) -> Headlines:
    """Read the headlines of one run."""
    return Headlines(
        **{name: fetch_rows(connection, query, run_id) for name, query in QUERIES.items()}
    )


def as_data(headlines: Headlines, agent: str) -> Row:
    """Return the headlines of one agent as plain data."""
    own = headlines.only(agent)
    hidden = ("run_id", "agent_name")
    plain = {
        name: [
            {column: plain_value(value) for column, value in row.items() if column not in hidden}
            for row in getattr(own, name)
        ]
        for name in QUERIES
    }
    return {
        "scores": plain["scores"],
        "reliability": next(iter(plain["reliability"]), None),
        "failures": plain["failures"],
        "masks": plain["masks"],
        "effort": next(iter(plain["efforts"]), None),
        "spreads": plain["spreads"],
        "bands": plain["bands"],
        "health": next(iter(plain["health"]), None),
    }


def plain_value(value: object) -> object:
    """Return a value as JSON has it: a time as text."""
    return value.isoformat() if isinstance(value, datetime) else value
