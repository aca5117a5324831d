"""Read the audits of a batch: lines that DuckDB could not read, and broken invariants."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from collector.artifacts import Run
from collector.profiling.manifest import CompiledModel, Plan
from collector.profiling.problems import RunProblem, invariant_problem
from collector.profiling.python_reader import SHOWN

UNREADABLE = "audit_lines_unreadable"


def unreadable_files(
    connection: duckdb.DuckDBPyConnection, plan: Plan
) -> list[tuple[str, str, int]]:
    """Return the files with lines that DuckDB could not read: run id, kind of file, line count."""
    audit = next(audit for audit in plan.layer("audits") if audit.name == UNREADABLE)
    return connection.execute(f"select * from {audit.relation} order by all").fetchall()


def find_problems(
    connection: duckdb.DuckDBPyConnection, plan: Plan, runs: Iterable[Run]
) -> list[RunProblem]:
    """Return the first broken invariant of each run, in the order of the audits' ranks."""
    run_by_id = {run.run_id: run for run in runs}
    problems: dict[str, RunProblem] = {}
    audits = [audit for audit in plan.layer("audits") if audit.name != UNREADABLE]
    for audit in sorted(audits, key=lambda audit: int(audit.meta["rank"])):
        # usually nothing is wrong, and a first look is cheaper than the windows below
        if not connection.execute(f"select 1 from {audit.relation} limit 1").fetchone():
            continue
        for run_id, count, keys in _violations(connection, audit):
            problem = invariant_problem(run_by_id[run_id], audit, count=count, keys=keys)
            problems.setdefault(run_id, problem)
    return list(problems.values())


def _violations(
    connection: duckdb.DuckDBPyConnection, audit: CompiledModel
) -> list[tuple[str, int, list[tuple[int, int]]]]:
    """Return the number of keys that an audit found in each run, and the first of them."""
    return connection.execute(
        f"""
        select run_id, max(key_count), list((task_index, rollout_index) order by key_rank)
        from (
            select
                *,
                count(*) over (partition by run_id) as key_count,
                row_number() over (partition by run_id order by task_index, rollout_index)
                    as key_rank
            from {audit.relation}
        )
        where key_rank <= {SHOWN}
        group by run_id
        order by run_id
        """
    ).fetchall()
