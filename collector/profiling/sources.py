"""Find the runs that a command names, by id in the warehouse or by rollouts files to profile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from collector import artifacts
from collector.artifacts import Run
from collector.errors import FileError, UsageError
from collector.profiling.known_runs import known_runs, name_runs, profile_times
from collector.profiling.known_settings import repeated_statistics
from collector.profiling.profile import Outcome, ProfileSettings, profile
from collector.profiling.statistics import Statistics
from collector.remote_paths import located_path
from collector.suggestions import first_names, suggestion
from collector.terminal import label
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class RunListener:
    """Receives the progress of long steps and messages for the user."""

    progress: Callable[[int, int, str], None]
    say: Callable[[str], None]


@dataclass(frozen=True)
class ResolvedRuns:
    """The ids of the runs, in the order given, and the profiles that were needed."""

    run_ids: list[str]
    outcomes: list[Outcome]


def resolve_runs(
    names: Sequence[str],
    warehouse: Path,
    *,
    is_partial_allowed: bool,
    listener: RunListener,
    slice_by: tuple[str, ...] = (),
) -> ResolvedRuns:
    """Return the runs that the names mean; profile the files among them that are new or changed.

    A run that the warehouse does not have yet is sliced by the fields `slice_by`.
    """
    known = known_runs(warehouse, on_wait=lambda text: listener.progress(0, 0, text))
    by_id = {row["run_id"]: row for row in known}
    by_path = {row["rollouts_path"]: row for row in known}
    run_ids, stale = [], dict[Statistics, list[Run]]()
    files = {
        name: _rollouts_file(name, list(by_id), warehouse) for name in names if name not in by_id
    }
    named = name_runs(dict.fromkeys(files.values()), known)
    for name in names:
        if name in by_id:
            run_ids.append(name)
            continue
        rollouts = files[name]
        row = by_path.get(str(rollouts))
        run = _plan_run(rollouts, row, named[rollouts])
        if run.run_id in run_ids:
            run_ids.append(run.run_id)
            continue
        run_ids.append(run.run_id)
        if row is None or not is_unchanged(row):
            statistics = repeated_statistics(row, listener.say)
            if row is None:
                statistics = replace(statistics, slice_by=slice_by)
            stale.setdefault(statistics, []).append(run)
    outcomes = [
        profile(
            runs,
            ProfileSettings(
                warehouse,
                is_partial_allowed,
                statistics=statistics,
                is_published=False,
                repeated=profile_times(known),
            ),
            listener=listener.progress,
        )
        for statistics, runs in stale.items()
    ]
    return ResolvedRuns(run_ids, outcomes)


def _rollouts_file(name: str, run_ids: list[str], warehouse: Path) -> Path:
    """Return the rollouts file that a name means; raise an error that says what is there."""
    path = located_path(name)
    if path.is_dir():
        found = artifacts.find_rollouts([path])
        if len(found) > 1:
            names = first_names([os.path.relpath(one) for one in found])
            raise UsageError(f"{name} holds {len(found)} runs: name one of them\n  {names}")
        return found[0]
    if path.is_file():
        return artifacts.find_rollouts([path])[0]
    if name.endswith(".jsonl") or (os.sep in name and not run_ids):
        raise FileError(f"no rollouts file at {name}")
    if not warehouse.exists():
        raise UsageError(
            f"{label(name)}: not a rollouts file, and there is no warehouse at {warehouse}\n"
            "  what to do: name rollouts files, or another warehouse with --warehouse"
        )
    raise UsageError(
        f"{label(name)}: not a run of {warehouse} and not a file{suggestion(name, run_ids)}\n"
        f"  the runs are: {first_names(run_ids) or 'none yet; fill it with `spotter profile`'}"
    )


def _plan_run(rollouts: Path, row: Row | None, name: str) -> Run:
    """Return the run of a file, with the inputs and the name of its last profile."""
    last_inputs = located_path(row["inputs_path"]) if row else None
    (run,) = artifacts.plan_runs(
        [rollouts],
        inputs=last_inputs if last_inputs and last_inputs.is_file() else None,
        names={rollouts: name},
    )
    return run


def is_unchanged(row: Row) -> bool:
    """Tell whether all files of a run are older than its profile, which is of this version."""
    if row.get("measured_rollout_count") is None:
        return False
    rollouts = located_path(row["rollouts_path"])
    paths = (
        rollouts,
        located_path(row["inputs_path"]),
        artifacts.beside(rollouts, artifacts.FAILURES_SUFFIX),
    )
    times = [path.stat().st_mtime for path in paths if path.exists()]
    latest = datetime.fromtimestamp(max(times), UTC).replace(tzinfo=None)
    return bool(latest < row["profiled_at"])
