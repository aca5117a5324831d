"""Read the files of a batch of runs into memory and audit them, before any warehouse is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from collector.artifacts import Run
from collector.errors import FileError
from collector.profiling import audits, python_reader
from collector.profiling.building import build_seeds, match_rollouts
from collector.profiling.field_names import check_fields
from collector.profiling.manifest import CompiledModel, Plan
from collector.profiling.problems import RunProblem, file_problem
from collector.profiling.staged_runs import StagedRun, declare_runs, open_run
from collector.profiling.statistics import Statistics
from collector.warehouse.access import SCRATCH

Progress = Callable[[str], None]
# DuckDB reads rows up to twice this size; larger buffers are slower, so they come only when needed
ROW_BYTES = (16 << 20, 128 << 20, 1 << 30)
KEEP = {
    "rollouts": python_reader.rollout_row,
    "inputs": python_reader.finite_row,
    "failures": python_reader.failure_row,
    "verdicts": python_reader.finite_row,
}


@dataclass
class Batch:
    """Runs that are profiled together, and the connection that holds their staged rows."""

    plan: Plan
    connection: duckdb.DuckDBPyConnection
    is_partial_allowed: bool
    statistics: Statistics
    folder: Path
    """A working folder, for rewritten copies of files."""
    links: Path
    """A folder for links to files whose names DuckDB would take for patterns."""
    progress: Progress
    is_shard: bool = False
    """Whether runs of the batch are shards: their staged rows are kept for `spotter merge`."""
    staged: list[StagedRun] = field(default_factory=list)

    def read(self, runs: Iterable[Run]) -> list[RunProblem]:
        """Stage the files of all runs, and return the problems of those that are broken.

        Raise UsageError if no run is broken but an option names a field that no row has.
        """
        self._prepare()
        problems: list[RunProblem] = []
        for run in runs:
            try:
                staged = open_run(self.connection, run, is_partial_allowed=self.is_partial_allowed)
            except FileError as error:
                problems.append(file_problem(run, error))
            else:
                self.staged.append(staged)
        if self.staged:
            self._stage()
            problems += self._rewrite_unreadable()
        if self.staged:
            self._check_staged_rows()
            staged_runs = [staged.run for staged in self.staged]
            problems += audits.find_problems(self.connection, self.plan, staged_runs)
        # a field may be in the rows of another shard only
        if not problems and not self.is_shard:
            check_fields(self.connection, self.statistics, self.staged[0])
        return problems

    def match(self) -> None:
        """Build the intermediate models, and keep only the tables that are read afterwards."""
        match_rollouts(
            self.connection, self.plan, keeps_staging=self.is_shard, progress=self.progress
        )

    def _prepare(self) -> None:
        for name, (data_type, value) in self.statistics.variables().items():
            self.connection.execute(f"set variable {name} = ?::{data_type}", [value])
        build_seeds(self.connection, self.plan)

    def _stage(self) -> None:
        """Build the staging models and the audits, with a larger buffer if a row needs it."""
        declare_runs(
            self.connection,
            self.staged,
            self.statistics,
            is_partial_allowed=self.is_partial_allowed,
            links=self.links,
        )
        for row_bytes in ROW_BYTES:
            self.connection.execute("set variable spotter_max_row_bytes = ?", [row_bytes])
            try:
                for model in self.plan.layer("staging", "audits"):
                    self._build(model)
            except duckdb.InvalidInputException as error:
                if "maximum_object_size" not in str(error):
                    raise
                last_error = error
            else:
                return
        raise FileError(f"a row is too long to be read: {last_error}")

    def _build(self, model: CompiledModel) -> None:
        self.progress(model.name)
        kind = "view" if model.materialized == "view" else "table"
        self.connection.execute(f"create or replace {kind} {model.relation} as {model.sql}")

    def _rewrite_unreadable(self) -> list[RunProblem]:
        """Rewrite the files with lines that DuckDB could not read, and stage the runs again.

        One round may not be enough: staging looks for NaN and Infinity only in the samples of
        tasks, and a rollout that becomes readable can make another input row the sample.
        """
        failed: dict[str, RunProblem] = {}
        rewritten: set[tuple[str, str]] = set()
        while rows := audits.unreadable_files(self.connection, self.plan):
            staged_by_id = {staged.run.run_id: staged for staged in self.staged}
            for run_id, kind, _ in rows:
                staged = staged_by_id[run_id]
                try:
                    if (run_id, kind) in rewritten:
                        path = staged.path(kind)
                        raise FileError(f"{path} cannot be read, for a reason unknown to Spotter")
                    self._rewrite(staged, kind)
                except FileError as error:
                    failed.setdefault(run_id, file_problem(staged.run, error))
                rewritten.add((run_id, kind))
            self.staged = [one for one in self.staged if one.run.run_id not in failed]
            if not self.staged:
                break
            self._stage()
        return list(failed.values())

    def _rewrite(self, staged: StagedRun, kind: str) -> None:
        """Replace a file of a run by a copy that DuckDB can read; raise LinesError if none can."""
        self.progress(f"reading {kind} line by line")
        target = self.folder / f"{len(list(self.folder.iterdir()))}-{kind}.jsonl"
        path = staged.path(kind)
        assert path is not None
        is_torn = staged.torn.get(kind, False)
        python_reader.rewrite(path, target, keep=KEEP[kind], skip_torn=is_torn)
        staged.torn[kind] = False
        setattr(staged, kind, target)

    def _check_staged_rows(self) -> None:
        """Raise FileError if a non-empty file produced no rows."""
        for kind in ("rollouts", "inputs"):
            query = f"select distinct run_id from {SCRATCH}.staging.stg_{kind}"
            ids = {run_id for (run_id,) in self.connection.execute(query).fetchall()}
            for staged in self.staged:
                path = staged.path(kind)
                if staged.run.run_id not in ids and path and python_reader.has_content(path):
                    raise FileError(f"DuckDB read no rows from {path}, which is not empty")
