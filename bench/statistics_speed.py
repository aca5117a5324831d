"""Measure how much time the statistics marts add to a profile, as a share of the time without them.

    python bench/statistics_speed.py [--sizes 16000 160000] [--rounds 3] [--slice-by category]

Each round runs in a separate process. "Without" is the same plan without the statistics models,
and without the fields of the responses that only these models need.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from shared import LARGE, generated_run, measure, size_parser

from collector import artifacts
from collector.profiling import profile as profiling
from collector.profiling.headlines import QUERIES, Headlines
from collector.profiling.manifest import Plan
from collector.profiling.plan import load_plan
from collector.profiling.statistics import Statistics

GOAL = 0.5
KEPT = (
    *("runs", "rollout_infos", "rollout_metrics", "task_profiles", "task_metrics"),
    *("agent_metrics", "repeat_metrics", "agent_repeats", "agent_reliability"),
)
STATISTICS_CHECKS = ("conserve_reliability", "conserve_slices", "order_scores")
READ = "from_json(response,"
READ_USAGE = "from_json(json_object('usage', response -> '$.usage'),"


def without_statistics(plan: Plan) -> Plan:
    """Remove the statistics models, their checks, and the fields that staging reads for them."""
    needed = {model.name for model in plan.models if model.name in KEPT or model.layer == "exports"}
    for model in reversed(plan.models):
        readers = (one for one in plan.models if one.name in needed)
        if model.layer != "marts" and any(model.relation in one.sql for one in readers):
            needed.add(model.name)
    models = tuple(
        dataclasses.replace(model, sql=model.sql.replace(READ, READ_USAGE))
        for model in plan.models
        if model.layer in ("staging", "audits") or model.name in needed
    )
    assert any(READ_USAGE in model.sql for model in models)
    checks = tuple(check for check in plan.checks if check.name not in STATISTICS_CHECKS)
    return dataclasses.replace(plan, models=models, checks=checks)


def profile_once(rollouts: Path, *, has_statistics: bool, slice_by: tuple[str, ...]) -> float:
    """Profile into a new warehouse, and return the seconds."""
    plan = load_plan()
    if has_statistics:
        return _profile_seconds(rollouts, plan, Statistics(slice_by=slice_by))
    nothing = Headlines(**{name: [] for name in QUERIES})
    with mock.patch.object(profiling, "read_headlines", return_value=nothing):
        return _profile_seconds(rollouts, without_statistics(plan), Statistics())


def _profile_seconds(rollouts: Path, plan: Plan, statistics: Statistics) -> float:
    with (
        mock.patch.object(profiling, "load_plan", return_value=plan),
        tempfile.TemporaryDirectory(dir=rollouts.parent) as folder,
    ):
        runs = artifacts.plan_runs([rollouts], output_dir=Path(folder))
        settings = profiling.ProfileSettings(
            Path(folder, "warehouse.duckdb"), statistics=statistics
        )
        started = time.perf_counter()
        profiling.profile(runs, settings, listener=lambda *_: None)
        return time.perf_counter() - started


def round_seconds(rollouts: Path, kind: str, slice_by: list[str]) -> float:
    """Run one round in a separate process, and return its seconds."""
    sliced = [word for field in slice_by for word in ("--slice-by", field)]
    command: list[str | Path] = [sys.executable, __file__, "--one", kind, rollouts, *sliced]
    return float(measure(command).printed)


def compare(size: int, folder: Path, rounds: int, slice_by: list[str]) -> None:
    """Measure one size alternately with and without statistics, and print a line."""
    rollouts = generated_run(folder, size)
    took: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(rounds):
        for kind, values in took.items():
            values.append(round_seconds(rollouts, kind, slice_by))
    plain, full = min(took["without"]), min(took["with"])
    print(
        f"{size:>9,} rollouts: {plain:.2f} s without, {full:.2f} s with statistics:"
        f" {full / plain - 1:+.0%}" + (f" (goal below {GOAL:+.0%})" if size >= LARGE else "")
    )


def main() -> None:
    """Measure every size, or run the one round that --one names."""
    parser = size_parser(__doc__, [1_000, 16_000, 160_000])
    parser.add_argument("--slice-by", action="append", default=[])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        kind, rollouts = given.one
        took = profile_once(
            Path(rollouts), has_statistics=kind == "with", slice_by=tuple(given.slice_by)
        )
        print(took)
        return
    for size in given.sizes:
        compare(size, given.folder, given.rounds, given.slice_by)


if __name__ == "__main__":
    main()
