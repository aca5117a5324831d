"""Compare runs: find them, build the comparison models, and read the result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import duckdb

from collector.comparing.compare import ComparisonSettings, Pair, build_comparisons
from collector.comparing.results import SCORES, Comparison, read_comparisons, run_agents
from collector.comparing.trajectories import Trajectories, read_trajectories
from collector.errors import UsageError
from collector.profiling.marts import check_marts
from collector.profiling.profile import Outcome
from collector.profiling.sources import RunListener, resolve_runs
from collector.suggestions import first_names, suggestion, unknown_name
from collector.terminal import label
from collector.warehouse.queries import open_read_only
from collector.warehouse.scratch import log_defects, scratch_beside


@dataclass(frozen=True)
class CompareRequest:
    """What to compare, and how."""

    names: tuple[str, ...]
    """Run ids or rollouts files; the first is the baseline."""
    warehouse: Path
    settings: ComparisonSettings = field(default_factory=ComparisonSettings)
    score: str = "mean_reward"
    ignores_obstacles: bool = False
    """Whether to report the verdict on runs that are not comparable; the marts keep both."""
    baseline_agent: str | None = None
    candidate_agent: str | None = None
    is_partial_allowed: bool = False
    memory_limit: str | None = None

    def check(self) -> None:
        """Raise UsageError if the request cannot be met for any runs."""
        settings = self.settings
        if len(self.names) < 2:
            raise UsageError("name two runs or rollouts files, like: spotter compare A B")
        if not 0 < settings.alpha < 0.5:
            raise UsageError(f"--alpha {settings.alpha:g}: give a number between 0 and 0.5")
        if settings.margin is not None and not 0 <= settings.margin < math.inf:
            raise UsageError(f"--margin {settings.margin:g}: give a number that is not negative")
        if self.score not in SCORES:
            raise UsageError(f"--score {unknown_name(self.score, SCORES)}")
        if len(self.names) > 2 and (self.baseline_agent or self.candidate_agent):
            raise UsageError("--agent-a and --agent-b need exactly two runs")


@dataclass(frozen=True)
class ComparisonResult:
    """The comparisons of all pairs of runs, the earlier run of each as its baseline."""

    warehouse: Path
    run_ids: list[str]
    comparisons: list[Comparison]
    trajectories: Trajectories
    outcomes: list[Outcome]
    """The profiles of the files that were new or had changed."""


def compare_runs(request: CompareRequest, listener: RunListener) -> ComparisonResult:
    """Compare every two of the runs; the marts of the warehouse keep the result."""
    request.check()
    resolved = resolve_runs(
        request.names,
        request.warehouse,
        is_partial_allowed=request.is_partial_allowed,
        listener=listener,
    )
    with open_read_only(request.warehouse, on_wait=listener.say) as connection:
        check_marts(connection, request.warehouse)
        pairs = _pairs(connection, request, resolved.run_ids)
    with (
        log_defects("compare"),
        scratch_beside(request.warehouse, request.memory_limit) as (scratch, _),
    ):
        build_comparisons(
            scratch,
            request.warehouse,
            pairs,
            request.settings,
            progress=lambda name: listener.progress(0, 0, name),
        )
    with open_read_only(request.warehouse, on_wait=listener.say) as connection:
        comparisons = read_comparisons(
            connection,
            pairs,
            request.settings,
            request.score,
            ignores_obstacles=request.ignores_obstacles,
        )
        trajectories = read_trajectories(connection, resolved.run_ids[0], resolved.run_ids[-1])
    return ComparisonResult(
        request.warehouse, resolved.run_ids, comparisons, trajectories, resolved.outcomes
    )


def _pairs(
    connection: duckdb.DuckDBPyConnection, request: CompareRequest, run_ids: list[str]
) -> list[Pair]:
    """Return every two runs; raise UsageError for a repeated run or an unknown agent or field."""
    repeated = sorted({run_id for run_id in run_ids if run_ids.count(run_id) > 1})
    if repeated and len(run_ids) > 2:
        raise UsageError(f"{label(repeated[0])} is named twice: name each run once")
    baseline_agent, candidate_agent = request.baseline_agent, request.candidate_agent
    if baseline_agent or candidate_agent:
        baseline_agent, candidate_agent = _agents(connection, request, run_ids)
    if request.settings.cluster_by:
        _check_clusters(connection, request.settings.cluster_by, run_ids)
    return [
        Pair(baseline, candidate, baseline_agent, candidate_agent)
        for baseline, candidate in combinations(run_ids, 2)
    ]


def _agents(
    connection: duckdb.DuckDBPyConnection, request: CompareRequest, run_ids: list[str]
) -> list[str | None]:
    """Return the agents to compare: those named, else those of the same name in the other run."""
    named = [request.baseline_agent, request.candidate_agent]
    for number, option in enumerate(("--agent-a", "--agent-b")):
        agent = named[number]
        agents = run_agents(connection, run_ids[number])
        if agent is None:
            named[number] = next((name for name in named if name in agents), None)
        elif agent not in agents:
            raise UsageError(f"{option} {unknown_name(agent, agents)}, in {label(run_ids[number])}")
    return named


def _check_clusters(
    connection: duckdb.DuckDBPyConnection, cluster_by: str, run_ids: list[str]
) -> None:
    rows = connection.execute(
        "select distinct slice_by from task_slices where list_contains(?, run_id) order by all",
        [run_ids],
    ).fetchall()
    fields = [name for (name,) in rows]
    if cluster_by not in fields:
        raise UsageError(
            f"--cluster-by {label(cluster_by)}: no run was sliced by this field"
            f"{suggestion(cluster_by, fields)}\n"
            f"  the fields are: {first_names(fields) or 'none'}\n"
            f"  what to do: profile the runs with --slice-by {label(cluster_by)}"
        )
