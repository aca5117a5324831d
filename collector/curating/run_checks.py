"""Find the run to curate, and refuse recipes and options that do not fit it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from collector.artifacts import rollouts_files
from collector.curating.recipe import Recipe
from collector.errors import FileError, InvariantError, UsageError
from collector.profiling.profile import Outcome
from collector.profiling.sources import RunListener, is_unchanged, resolve_runs
from collector.remote_paths import is_remote
from collector.suggestions import first_names, suggestion, unknown_name
from collector.terminal import label
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import fetch_rows


@dataclass(frozen=True, kw_only=True)
class RunChoice:
    """A run, the recipe to judge its tasks by, and how to read and replace files."""

    run: str
    """A run's id, or a rollouts file."""
    warehouse: Path
    recipe: Recipe = field(default_factory=Recipe)
    recipe_folder: Path = Path()
    agent: str | None = None
    since: str | None = None
    is_overwriting: bool = False
    is_partial_allowed: bool = False
    memory_limit: str | None = None

    @property
    def excluded_files(self) -> list[Path]:
        """Return the files whose tasks are left out."""
        return self.recipe.excluded_files(self.recipe_folder)


@dataclass(frozen=True)
class CuratedRun:
    """The run that tasks are chosen from."""

    run_id: str
    rollouts: Path
    inputs: Path
    pass_threshold: float
    task_count: int
    since_run_id: str | None = None


def find_run(request: RunChoice, listener: RunListener) -> tuple[CuratedRun, list[Outcome]]:
    """Return the run, which is profiled first if it is a file that is new or has changed."""
    _refuse_missing(request.excluded_files)
    per_slice = request.recipe.per_slice
    resolved = resolve_runs(
        [request.run, *([request.since] if request.since else [])],
        request.warehouse,
        is_partial_allowed=request.is_partial_allowed,
        listener=listener,
        slice_by=(per_slice.by,) if per_slice else (),
    )
    run_id = resolved.run_ids[0]
    with open_read_only(request.warehouse, on_wait=listener.say) as connection:
        check_agent(connection, run_id, request.agent)
        check_slices(connection, run_id, request.recipe)
        (row,) = fetch_rows(connection, "select * from runs where run_id = ?", run_id)
    files = rollouts_files(row["rollouts_path"])
    if any(map(is_remote, files)):
        raise UsageError(
            f"{label(run_id)} is in an object store, and curating needs local files\n"
            "  what to do: copy the run's files to a disk, and profile them there"
        )
    if len(files) > 1:
        raise UsageError(
            f"{label(run_id)} was merged from the files of shards, and curating needs them in one"
            " file\n  what to do: join them with `spotter aggregate`, and profile the result"
        )
    run = CuratedRun(
        run_id=run_id,
        rollouts=Path(row["rollouts_path"]),
        inputs=Path(row["inputs_path"]),
        pass_threshold=1.0 if row["pass_threshold"] is None else row["pass_threshold"],
        task_count=row["task_count"],
        since_run_id=resolved.run_ids[1] if request.since else None,
    )
    for path in (run.rollouts, run.inputs):
        if not path.is_file():
            raise FileError(f"no file at {path}: the run {label(run_id)} was profiled from there")
    if not is_unchanged(row):
        raise InvariantError(
            f"the files of {label(run_id)} have changed since it was profiled\n"
            f"  what to do: spotter profile {run.rollouts}"
        )
    return run, resolved.outcomes


def _refuse_missing(paths: list[Path]) -> None:
    for path in paths:
        if not path.is_file():
            raise FileError(
                f"exclude: no file at {path}; relative paths begin at the recipe's folder"
            )


def check_agent(connection: duckdb.DuckDBPyConnection, run_id: str, agent: str | None) -> None:
    """Raise UsageError for an unknown agent, or if a task has several and none is named."""
    rows = fetch_rows(
        connection,
        "select agent_name, max(agent_count) as agent_count from (select agent_name, count(*) over"
        " (partition by task_index) as agent_count from task_bands where run_id = ?)"
        " group by agent_name order by agent_name",
        run_id,
    )
    names = [row["agent_name"] for row in rows]
    if agent is not None and agent not in names:
        raise UsageError(f"--agent {unknown_name(agent, names)}, in {label(run_id)}")
    if agent is None and any(row["agent_count"] > 1 for row in rows):
        raise UsageError(
            f"several agents of {label(run_id)} ran the same tasks: choose one with --agent\n"
            f"  there are: {first_names(names)}"
        )


def check_slices(connection: duckdb.DuckDBPyConnection, run_id: str, recipe: Recipe) -> None:
    """Raise UsageError if the run is not sliced by the field, or lacks a slice with a share."""
    per_slice = recipe.per_slice
    if not per_slice:
        return
    rows = fetch_rows(
        connection,
        "select distinct slice_by, slice_value from task_slices where run_id = ? order by all",
        run_id,
    )
    fields = sorted({row["slice_by"] for row in rows})
    if per_slice.by not in fields:
        raise UsageError(
            f"per_slice.by: {label(run_id)} is not sliced by {label(per_slice.by)}"
            f"{suggestion(per_slice.by, fields)}\n"
            f"  what to do: profile the run with --slice-by {label(per_slice.by)}"
        )
    values = [row["slice_value"] for row in rows if row["slice_by"] == per_slice.by]
    for name in per_slice.shares:
        if name not in values:
            raise UsageError(
                f"per_slice.shares: {label(per_slice.by)} {unknown_name(name, values)}"
            )
