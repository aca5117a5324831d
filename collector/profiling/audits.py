"""Read the audits of a batch: lines that DuckDB could not read, and broken invariants."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from collector.artifacts import Run
from collector.profiling.manifest import CompiledModel, Plan
from collector.profiling.problems import RunProblem, fates_of_missing, invariant_problem
from collector.profiling.python_reader import SHOWN
from collector.warehouse.access import SCRATCH

UNREADABLE = "audit_lines_unreadable"
MISSING = "audit_rollouts_missing"


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
            advice = _missing_advice(connection, audit, run_id) if audit.name == MISSING else ""
            run = run_by_id[run_id]
            problem = invariant_problem(run, audit, count=count, keys=keys, advice=advice)
            problems.setdefault(run_id, problem)
    return list(problems.values())


def _missing_advice(
    connection: duckdb.DuckDBPyConnection, audit: CompiledModel, run_id: str
) -> str:
    """Say what resuming does for the missing rollouts of a run, and what to do."""
    rows = connection.execute(
        f"""
        select count(*), count(attempts.is_refused), count(case when attempts.is_refused then 1 end)
        from {audit.relation}
        left join (
            select run_id, task_index, rollout_index, bool_or(is_terminal) as is_refused
            from {SCRATCH}.staging.stg_failures
            group by all
        ) as attempts using (run_id, task_index, rollout_index)
        where run_id = ?
        """,
        [run_id],
    ).fetchall()
    ((missing, failed, refused),) = rows
    advice = audit.meta["advice"]
    if refused == missing:
        advice = (
            "profile the rollouts present with --allow-partial, or correct the rows and collect"
            " them anew"
        )
    fates = fates_of_missing(missing, failed=failed, refused=refused)
    return "\n".join([*fates, f"  what to do: {advice}"])


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
