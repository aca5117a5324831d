"""Build the comparison models for pairs of runs, and read the marts that they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from collector.profiling.manifest import Plan
from collector.profiling.marts import comments, forget_comparisons, insert_rows, prepare
from collector.profiling.plan import load_plan
from collector.warehouse.access import (
    SCRATCH,
    attach_for_reading,
    attach_for_writing,
    commit_whole,
)
from collector.warehouse.sql import literal, quote_name

PAIR_TYPE = (
    "struct(baseline_run_id varchar, baseline_agent_name varchar, candidate_run_id varchar,"
    " candidate_agent_name varchar, alpha double, margin double, cluster_by varchar,"
    " is_fixed_suite boolean)"
)
STEPS = f"{SCRATCH}.intermediate"
"""Where the models between the marts and a comparison are, until the connection is closed."""
COPY = "comparisons"
DECLARED = (
    "(run_id, baseline_run_id) in"
    f" (select (run_id, baseline_run_id) from {STEPS}.int_compared_runs)"
)


@dataclass(frozen=True)
class Pair:
    """Two runs to compare, and optionally their agents."""

    baseline_run_id: str
    candidate_run_id: str
    baseline_agent_name: str | None = None
    candidate_agent_name: str | None = None


@dataclass(frozen=True)
class ComparisonSettings:
    """What a verdict may claim."""

    alpha: float = 0.05
    margin: float | None = None
    cluster_by: str | None = None
    is_fixed_suite: bool = False


def build_comparisons(
    connection: duckdb.DuckDBPyConnection,
    warehouse: Path,
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
    *,
    progress: Callable[[str], None],
) -> None:
    """Compare the pairs and write the comparison marts; earlier comparisons of them go.

    The steps in between stay in the database in memory of the connection.
    """
    plan = _declare(connection, pairs, settings)
    with attach_for_writing(connection, warehouse, on_wait=progress) as file:
        _build_steps(connection, plan, progress=progress)
        with commit_whole(connection, file):
            prepare(connection, plan, warehouse)
            forget_comparisons(connection, plan, DECLARED)
            for model in plan.comparison("marts"):
                progress(model.name)
                insert_rows(connection, model)


def write_comparisons(
    connection: duckdb.DuckDBPyConnection,
    warehouse: Path,
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
    target: Path,
) -> None:
    """Compare the pairs and write the comparison marts to a new DuckDB file.

    The warehouse is only read.
    """
    plan = _declare(connection, pairs, settings)
    connection.execute(f"attach {literal(target)} as {COPY} (type duckdb)")
    with attach_for_reading(connection, warehouse, on_wait=_ignore):
        _build_steps(connection, plan, progress=_ignore)
        for model in plan.comparison("marts"):
            relation = f"{COPY}.main.{quote_name(model.name)}"
            connection.execute(f"create table {relation} as {model.sql}")
            for statement in comments(model, relation):
                connection.execute(statement)
    connection.execute(f"detach {COPY}")


def _ignore(_: str) -> None:
    """Report nothing: nobody reads the progress of a comparison for a page."""


def _declare(
    connection: duckdb.DuckDBPyConnection, pairs: Sequence[Pair], settings: ComparisonSettings
) -> Plan:
    """Set the pairs that the models compare, create the seeds, and return the plan."""
    plan = load_plan()
    rows = [asdict(pair) | asdict(settings) for pair in pairs]
    connection.execute(f"set variable spotter_comparisons = ?::{PAIR_TYPE}[]", [rows])
    for seed in plan.seeds:
        connection.execute(f"create or replace table {seed.relation} as {seed.sql}")
    return plan


def _build_steps(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    for model in plan.comparison("intermediate"):
        progress(model.name)
        connection.execute(f"create or replace table {model.relation} as {model.sql}")
