"""Find out what there is to look at: a warehouse, or rollouts that are profiled first."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import duckdb

from collector import artifacts
from collector.artifacts import Run
from collector.errors import BusyError, FileError, SpotterError
from collector.profiling.prices import read_prices
from collector.profiling.profile import ProfileSettings, profile
from collector.profiling.statistics import Statistics
from collector.viewer.context import Viewer
from collector.viewer.links import Links
from collector.viewer.live import Live, known_statistics, look_at_sources
from collector.viewer.marts.store import Store
from collector.viewer.serving.derived_inputs import derive_inputs, derived_inputs
from collector.viewer.text import utc
from collector.viewer.transcripts.files import Transcripts
from collector.warehouse.access import is_duckdb
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row, fetch_rows

WAREHOUSE_NAME = "warehouse.duckdb"
RECENT = timedelta(minutes=10)
"""A file that changed so shortly before it was profiled may have grown meanwhile."""


@dataclass(frozen=True)
class Listener:
    """Who hears of what takes long, and of what should be known."""

    progress: Callable[[int, int, str], None]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Opened:
    """What will be looked at, and the page to begin with."""

    warehouse: Path
    start: str


def make_viewer(warehouse: Path, *, say: Callable[[str], None]) -> Viewer:
    """Put together what the pages read."""
    return Viewer(
        store=Store(warehouse),
        transcripts=Transcripts(warehouse.parent, say),
        live=Live(warehouse),
    )


def open_given(
    given: Path | None, warehouse: Path, *, is_named: bool, listener: Listener
) -> Opened:
    """Return the warehouse to look at; rollouts that it does not have are profiled into it.

    `is_named` says that the warehouse was named, and is not just where one usually lies.
    """
    links = Links()
    if given is None or is_duckdb(given):
        found = (given or warehouse).absolute()
        _check_marts(found)
        return Opened(found, links.runs())
    if not given.exists():
        raise FileError(f"{given} does not exist\n  {_advice()}")
    if not (given.is_file() or given.is_dir()):
        raise FileError(f"{given} is neither a file nor a folder\n  {_advice()}")
    place = _warehouse_for(given, warehouse, is_named=is_named).absolute()
    is_inside = place.parent == given.absolute() or is_named
    if given.is_dir() and is_inside and place.is_file() and not _has_rollouts(given):
        _check_marts(place)
        return Opened(place, links.runs())
    run_ids = _bring_up_to_date(artifacts.find_rollouts([given]), place, listener)
    return Opened(place, links.run(run_ids[0]) if len(run_ids) == 1 else links.runs())


def _check_marts(path: Path) -> None:
    if not path.exists():
        raise FileError(f"there is no warehouse at {path}\n  {_advice()}")
    # pages wait for one that is being written to
    with (
        contextlib.suppress(BusyError),
        contextlib.closing(Store(path)) as store,
        store.reading(),
    ):
        pass


def _advice() -> str:
    return (
        "what to do: name a warehouse, a rollouts file or a folder with some, such as"
        " `spotter view results/rollouts.jsonl`; `spotter demo` makes an example"
    )


def _warehouse_for(given: Path, warehouse: Path, *, is_named: bool) -> Path:
    """Return the warehouse that was named, else the one beside the rollouts, else the usual."""
    folder = given if given.is_dir() else given.parent
    beside = folder / WAREHOUSE_NAME
    return beside if not is_named and is_duckdb(beside) else warehouse


def _has_rollouts(folder: Path) -> bool:
    try:
        return bool(artifacts.find_rollouts([folder]))
    except FileError:
        return False


def _bring_up_to_date(rollouts: list[Path], warehouse: Path, listener: Listener) -> list[str]:
    """Profile the files that the warehouse does not have as they are now."""
    known = _known_runs(warehouse, rollouts, listener)
    stale: dict[Statistics, list[Run]] = {}
    run_ids = []
    for path in rollouts:
        row = known.get(str(path))
        run = _planned(path, row, warehouse)
        run_ids.append(run.run_id)
        if row is None or not _is_current(row):
            stale.setdefault(_statistics(row, listener), []).append(run)
    for statistics, runs in stale.items():
        for run in runs:
            if run.inputs == derived_inputs(run.rollouts, warehouse):
                derive_inputs(run, listener.say)
        settings = ProfileSettings(
            warehouse, is_partial_allowed=True, statistics=statistics, is_published=False
        )
        profile(runs, settings, listener=listener.progress)
    return run_ids


def _statistics(row: Row | None, listener: Listener) -> Statistics:
    """Return how a run was profiled before; without its price file there are no costs."""
    known = known_statistics(row) if row else Statistics()
    if not row or not row.get("prices_path"):
        return known
    try:
        return replace(known, prices=read_prices(Path(row["prices_path"])))
    except SpotterError as error:
        listener.say(f"{row['run_id']} is profiled without costs: {error}")
        return known


def _known_runs(warehouse: Path, rollouts: list[Path], listener: Listener) -> dict[str, Row]:
    """Return what the warehouse says of these files, where it knows them."""
    if not warehouse.exists():
        return {}
    with open_read_only(
        warehouse, on_wait=lambda text: listener.progress(0, 0, text)
    ) as connection:
        query = (
            "select * from runs where list_contains(?, rollouts_path) order by profiled_at, run_id"
        )
        try:
            rows = fetch_rows(connection, query, [str(path) for path in rollouts])
        except duckdb.CatalogException:  # no marts yet
            return {}
    return {row["rollouts_path"]: row for row in rows}


def _planned(rollouts: Path, row: Row | None, warehouse: Path) -> Run:
    """Return the run of a file: as it was profiled before, or with what lies beside it."""
    kept = Path(row["inputs_path"]) if row else None
    usual = artifacts.default_inputs(rollouts)
    inputs = kept if kept and kept.is_file() else usual
    if not inputs.is_file():
        inputs = derived_inputs(rollouts, warehouse)
    (run,) = artifacts.plan_runs([rollouts], inputs=inputs, run_id=row["run_id"] if row else None)
    return run


def _is_current(row: Row) -> bool:
    """Tell whether a run's files are as they were when it was profiled."""
    # an earlier version counted otherwise, and its warehouse lacks columns
    if row.get("measured_rollout_count") is None or look_at_sources(row).is_changed:
        return False
    rollouts = Path(row["rollouts_path"])
    if row["profiled_at"] - utc(rollouts.stat().st_mtime) > RECENT:
        return True
    return bool(_line_count(rollouts) == row["completed_rollout_count"])


def _line_count(path: Path) -> int:
    """Count the lines of a file; an unfinished last one counts as not collected."""
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
