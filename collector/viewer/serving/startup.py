"""Finds the warehouse to show, and profiles rollouts into it where needed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from collector import artifacts
from collector.artifacts import Run
from collector.errors import BusyError, FileError
from collector.profiling.known_runs import known_runs, name_runs, profile_times
from collector.profiling.known_settings import repeated_statistics
from collector.profiling.profile import ProfileSettings, profile
from collector.profiling.statistics import Statistics
from collector.viewer.comparisons import Comparisons
from collector.viewer.context import Viewer
from collector.viewer.links import Links
from collector.viewer.live_runs import LiveRuns, check_sources
from collector.viewer.marts.store import Store
from collector.viewer.searches import Searches
from collector.viewer.selections import Selections
from collector.viewer.serving.derived_inputs import derive_inputs, derived_inputs_path
from collector.viewer.text import utc
from collector.viewer.transcripts.files import Transcripts
from collector.warehouse.access import is_duckdb
from collector.warehouse.sql import Row

WAREHOUSE_NAME = "warehouse.duckdb"
RECENT = timedelta(minutes=10)
"""A file that changed this shortly before its profile may have grown during the profile."""


@dataclass(frozen=True)
class Listener:
    """Receives the progress of long steps and messages for the user."""

    progress: Callable[[int, int, str], None]
    say: Callable[[str], None]


@dataclass(frozen=True)
class OpenedWarehouse:
    """The warehouse to show, and the address of the first page."""

    warehouse: Path
    start: str


def make_viewer(warehouse: Path, *, say: Callable[[str], None]) -> Viewer:
    """Return a viewer of a warehouse."""
    transcripts = Transcripts(warehouse.parent, say)
    return Viewer(
        store=Store(warehouse),
        transcripts=transcripts,
        live_runs=LiveRuns(warehouse),
        comparisons=Comparisons(warehouse),
        selections=Selections(warehouse),
        searches=Searches(transcripts.folder),
    )


def open_path(
    path: Path | None, warehouse: Path, *, is_named: bool, listener: Listener
) -> OpenedWarehouse:
    """Return the warehouse to show, after profiling the rollouts that it lacks.

    `path` is a warehouse, a rollouts file or a folder. `is_named` says that the user named
    `warehouse`, rather than that it is the default path.
    """
    links = Links()
    if path is None or is_duckdb(path):
        found = (path or warehouse).absolute()
        _check_marts(found)
        return OpenedWarehouse(found, links.runs())
    if not path.exists():
        raise FileError(f"{path} does not exist\n  {_advice()}")
    if not (path.is_file() or path.is_dir()):
        raise FileError(f"{path} is neither a file nor a folder\n  {_advice()}")
    target = _warehouse_for(path, warehouse, is_named=is_named).absolute()
    is_inside = target.parent == path.absolute()
    if path.is_dir() and is_inside and target.is_file() and not _has_rollouts(path):
        _check_marts(target)
        return OpenedWarehouse(target, links.runs())
    run_ids = _profile_stale_runs(artifacts.find_rollouts([path]), target, listener)
    return OpenedWarehouse(target, links.run(run_ids[0]) if len(run_ids) == 1 else links.runs())


def _check_marts(path: Path) -> None:
    if not path.exists():
        raise FileError(f"there is no warehouse at {path}\n  {_advice()}")
    # a busy warehouse is not an error here, because the pages wait for it
    with (
        contextlib.suppress(BusyError),
        contextlib.closing(Store(path)) as store,
        store.open_reader(),
    ):
        pass


def _advice() -> str:
    return (
        "what to do: name a warehouse, a rollouts file or a folder with rollouts files, such as"
        " `spotter view results/rollouts.jsonl`; `spotter demo` makes an example"
    )


def _warehouse_for(path: Path, warehouse: Path, *, is_named: bool) -> Path:
    """Return the named warehouse, else the one beside the rollouts, else the default."""
    folder = path if path.is_dir() else path.parent
    beside = folder / WAREHOUSE_NAME
    return beside if not is_named and is_duckdb(beside) else warehouse


def _has_rollouts(folder: Path) -> bool:
    try:
        return bool(artifacts.find_rollouts([folder]))
    except FileError:
        return False


def _profile_stale_runs(rollouts: list[Path], warehouse: Path, listener: Listener) -> list[str]:
    """Profile new and changed rollouts files; return the run ids of all files."""
    known = known_runs(warehouse, on_wait=lambda text: listener.progress(0, 0, text))
    by_path = {row["rollouts_path"]: row for row in known}
    named = name_runs(rollouts, known)
    stale: dict[Statistics, list[Run]] = {}
    run_ids = []
    for path in rollouts:
        row = by_path.get(str(path))
        run = _plan_run(path, row, named[path], warehouse)
        run_ids.append(run.run_id)
        if row is None or not _is_current(row):
            stale.setdefault(repeated_statistics(row, listener.say), []).append(run)
    for statistics, runs in stale.items():
        for run in runs:
            if run.inputs == derived_inputs_path(run.rollouts, warehouse):
                derive_inputs(run, listener.say)
        settings = ProfileSettings(
            warehouse,
            is_partial_allowed=True,
            statistics=statistics,
            is_published=False,
            repeated=profile_times(known),
        )
        profile(runs, settings, listener=listener.progress)
    return run_ids


def _plan_run(rollouts: Path, row: Row | None, name: str, warehouse: Path) -> Run:
    """Return the run of a file, with the inputs of its last profile or those beside the file."""
    last_inputs = Path(row["inputs_path"]) if row else None
    default = artifacts.default_inputs(rollouts)
    inputs = last_inputs if last_inputs and last_inputs.is_file() else default
    if not inputs.is_file():
        inputs = derived_inputs_path(rollouts, warehouse)
    (run,) = artifacts.plan_runs([rollouts], inputs=inputs, names={rollouts: name})
    return run


def _is_current(row: Row) -> bool:
    """Tell whether a run's files are unchanged since it was profiled."""
    if check_sources(row).is_changed:
        return False
    rollouts = Path(row["rollouts_path"])
    if row["profiled_at"] - utc(rollouts.stat().st_mtime) > RECENT:
        return True
    return bool(_line_count(rollouts) == row["completed_rollout_count"])


def _line_count(path: Path) -> int:
    """Count the finished lines of a file; an unfinished last line is not a collected rollout."""
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
