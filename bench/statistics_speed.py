"""Measure how much time the statistics marts add to a profile, as a share of the time without them.

    python bench/statistics_speed.py [--sizes 16000 160000] [--rounds 3] [--slice-by category]

Each round runs in a separate process. "Without" is the same plan without the statistics models,
and without the fields of the responses that only these models need.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from generate import generate
from profile_speed import LARGE, REPEATS

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
    *("int_rollouts_keyed", "int_agent_labels", "int_rollouts_matched", "int_rollout_values"),
    *("int_expected_rollouts", "int_expected_tasks", "int_task_metrics", "int_repeats"),
    *("int_failed_attempts", "int_agent_rollouts"),
)
STATISTICS_CHECKS = ("conserve_reliability", "conserve_slices", "order_scores")
LOOK = re.compile(r"from_json\(.*?\}'\)", re.DOTALL)
ONLY_USAGE = (
    "struct_pack(usage := from_json(fields['response'], '{\"usage\": \"JSON\"}').usage,"
    " model := null::varchar, status := null::varchar, incomplete_details := null::json,"
    " output := null::struct("
    "type varchar, status varchar, content json, name varchar, arguments varchar,"
    " input varchar, action varchar, code varchar, queries varchar, summary varchar)[])"
)


def without_statistics(plan: Plan) -> Plan:
    """Remove the statistics models, their checks, and the fields that staging reads for them."""
    models = tuple(
        dataclasses.replace(model, sql=LOOK.sub(ONLY_USAGE, model.sql))
        for model in plan.models
        if model.layer in ("staging", "audits", "exports") or model.name in KEPT
    )
    assert any(ONLY_USAGE in model.sql for model in models)
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
    command = [sys.executable, __file__, "--one", kind, str(rollouts), *sliced]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(size: int, folder: Path, rounds: int, slice_by: list[str]) -> None:
    """Measure one size alternately with and without statistics, and print a line."""
    stem = folder / f"run{size}"
    if not stem.with_suffix(".jsonl").exists():
        generate(-(-size // REPEATS), REPEATS, stem)
    took: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(rounds):
        for kind, values in took.items():
            values.append(round_seconds(stem.with_suffix(".jsonl"), kind, slice_by))
    plain, full = min(took["without"]), min(took["with"])
    print(
        f"{size:>9,} rollouts: {plain:.2f} s without, {full:.2f} s with statistics:"
        f" {full / plain - 1:+.0%}" + (f" (goal below {GOAL:+.0%})" if size >= LARGE else "")
    )


def main() -> None:
    """Measure every size, or run the one round that --one names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 16_000, 160_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "data")
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
    given.folder.mkdir(exist_ok=True)
    for size in given.sizes:
        compare(size, given.folder, given.rounds, given.slice_by)


if __name__ == "__main__":
    main()
