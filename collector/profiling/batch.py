"""Read the files of a batch of runs into memory and audit them, before any warehouse is touched."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from collector.artifacts import Run
from collector.errors import FileError, LinesError, UsageError
from collector.profiling import python_reader
from collector.profiling.manifest import Model, Plan
from collector.profiling.statistics import Statistics
from collector.terminal import label
from collector.warehouse.access import SCRATCH

Progress = Callable[[str], None]
# DuckDB reads rows up to twice this size; larger buffers are slower, so they come only when needed
ROW_BYTES = (16 << 20, 128 << 20, 1 << 30)
UNREADABLE = "audit_lines_unreadable"
PATTERN = re.compile(r"[*?\[\\]")
# what each run tells the models; an empty list needs its type said
RUN = (
    "struct(run_id varchar, rollouts_path varchar, inputs_path varchar, failures_path varchar,"
    " rollouts_file varchar, inputs_file varchar, failures_file varchar,"
    " torn_rollouts_count bigint, torn_failures_count bigint, verdicts_file varchar,"
    " is_partial_allowed boolean, zero_classes varchar[], is_missing_zero boolean,"
    " prices_path varchar)"
)
KEEP = {
    "rollouts": python_reader.rollout_row,
    "inputs": python_reader.input_row,
    "failures": python_reader.failure_row,
}


@dataclass(frozen=True)
class Problem:
    """What is wrong with one run, in words a person can act on and fields a script can read."""

    run: Run
    kind: str
    message: str
    exit_code: int
    count: int = 0
    keys: tuple[tuple[int, int], ...] = ()
    lines: tuple[int, ...] = ()


@dataclass
class Source:
    """A run with the files that are really read for it."""

    run: Run
    rollouts: Path
    inputs: Path
    failures: Path | None
    verdicts: Path | None
    torn: dict[str, bool] = field(default_factory=dict)


@dataclass
class Batch:
    """The runs that are profiled together, and the connection that holds what was read of them."""

    plan: Plan
    connection: duckdb.DuckDBPyConnection
    is_partial_allowed: bool
    statistics: Statistics
    folder: Path
    links: Path
    progress: Progress
    sources: list[Source] = field(default_factory=list)

    def read(self, runs: Iterable[Run]) -> list[Problem]:
        """Stage the files of all runs and return what is wrong with those that are broken."""
        self._prepare()
        problems: list[Problem] = []
        for run in runs:
            try:
                self.sources.append(self._open(run))
            except FileError as error:
                problems.append(_file_problem(run, error))
        if self.sources:
            self._stage()
            problems += self._rewrite_unreadable()
        if self.sources:
            self._check_nothing_was_passed_over()
            problems += self._audit()
        if not problems:
            self._check_fields()
        return problems

    def match(self) -> None:
        """Build the intermediate models, which the marts read."""
        for model in self.plan.layer("intermediate"):
            self._build(model)

    def _prepare(self) -> None:
        for name, (kind, value) in self.statistics.variables().items():
            self.connection.execute(f"set variable {name} = ?::{kind}", [value])
        for seed in self.plan.seeds:
            self.connection.execute(f"create table {seed.relation} as {seed.sql}")

    def _open(self, run: Run) -> Source:
        for path, what in ((run.rollouts, "rollouts"), (run.inputs, "materialized inputs")):
            _check_readable(path, what)
        source = Source(run, run.rollouts, run.inputs, None, run.verdicts())
        source.torn["rollouts"] = self.is_partial_allowed and self._is_torn(run.rollouts)
        if run.failures.exists():
            _check_readable(run.failures, "failures")
            source.failures = run.failures
            source.torn["failures"] = self._is_torn(run.failures)
        return source

    def _is_torn(self, path: Path) -> bool:
        """Tell whether the last line was cut short; DuckDB, which reads it, has the last word."""
        line = python_reader.unfinished_line(path)
        if line is None:
            return False
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            return True
        row = self.connection.execute("select json_valid(?)", [text]).fetchone()
        return row == (False,)

    def _stage(self) -> None:
        self._declare()
        for row_bytes in ROW_BYTES:
            self.connection.execute("set variable spotter_max_row_bytes = ?", [row_bytes])
            try:
                for model in self.plan.layer("staging", "audits"):
                    self._build(model)
            except duckdb.InvalidInputException as error:
                if "maximum_object_size" not in str(error):
                    raise
                problem = error
            else:
                return
        raise FileError(f"a row is too long to be read: {problem}")

    def _declare(self) -> None:
        runs = [
            {
                "run_id": source.run.run_id,
                "rollouts_path": str(source.run.rollouts),
                "inputs_path": str(source.run.inputs),
                "failures_path": str(source.run.failures),
                "rollouts_file": self._plain_name(source.rollouts),
                "inputs_file": self._plain_name(source.inputs),
                "failures_file": self._plain_name(source.failures) if source.failures else "",
                "torn_rollouts_count": int(source.torn.get("rollouts", False)),
                "torn_failures_count": int(source.torn.get("failures", False)),
                "verdicts_file": self._plain_name(source.verdicts) if source.verdicts else "",
                "is_partial_allowed": self.is_partial_allowed,
                "zero_classes": list(zeros.failure_classes),
                "is_missing_zero": zeros.is_missing_zero,
                "prices_path": self.statistics.prices.path if self.statistics.prices else None,
            }
            for source in self.sources
            for zeros in (self.statistics.zeros_of(source.run),)
        ]
        self.connection.execute(f"set variable spotter_runs = ?::{RUN}[]", [runs])
        for kind in (*KEEP, "verdicts"):
            # the null device stands in where no file exists, so that the columns are known
            files = [*filter(None, (run[f"{kind}_file"] for run in runs)), os.devnull]
            self.connection.execute(f"set variable spotter_{kind}_files = ?", [files])

    def _plain_name(self, path: Path) -> str:
        """Return a name that DuckDB takes for just this file, not for a pattern."""
        if not PATTERN.search(str(path)):
            return str(path)
        link = self.links / hashlib.md5(os.fsencode(path)).hexdigest()
        if not link.is_symlink():
            link.symlink_to(path)
        return str(link)

    def _build(self, model: Model) -> None:
        self.progress(model.name)
        kind = "view" if model.materialized == "view" else "table"
        self.connection.execute(f"create or replace {kind} {model.relation} as {model.sql}")

    def _rewrite_unreadable(self) -> list[Problem]:
        """Read again, as Python would, the files with lines DuckDB could not read.

        More than once, because only a rollout that can be read shows which input is its sample.
        """
        failed: dict[str, Problem] = {}
        rewritten: set[tuple[str, str]] = set()
        while rows := self._unreadable():
            by_run = {source.run.run_id: source for source in self.sources}
            for run_id, kind, _ in rows:
                source = by_run[run_id]
                path: Path = getattr(source, kind)
                try:
                    if (run_id, kind) in rewritten:
                        raise FileError(f"{path} cannot be read, for a reason unknown to Spotter")
                    setattr(source, kind, self._rewrite(source, kind))
                except FileError as error:
                    failed.setdefault(run_id, _file_problem(source.run, error))
                rewritten.add((run_id, kind))
            self.sources = [s for s in self.sources if s.run.run_id not in failed]
            if not self.sources:
                break
            self._stage()
        return list(failed.values())

    def _check_nothing_was_passed_over(self) -> None:
        """Make sure that every file with content gave rows, whatever its name is."""
        for kind in ("rollouts", "inputs"):
            query = f"select distinct run_id from {SCRATCH}.staging.stg_{kind}"
            seen = {run_id for (run_id,) in self.connection.execute(query).fetchall()}
            for source in self.sources:
                path: Path = getattr(source, kind)
                if source.run.run_id not in seen and python_reader.has_content(path):
                    raise FileError(f"DuckDB read nothing of {path}")

    def _unreadable(self) -> list[tuple[str, str, int]]:
        """Return the run, the kind of file and how many lines of it nobody could read."""
        audit = next(audit for audit in self.plan.layer("audits") if audit.name == UNREADABLE)
        return self.connection.execute(f"select * from {audit.relation} order by all").fetchall()

    def _check_fields(self) -> None:
        """Refuse to slice by, or to vote on, a field that nothing has: its name was mistyped."""
        staging = f"{SCRATCH}.staging"
        found = self.connection.execute(
            f"""
            select distinct entry.slice_by
            from (
                select unnest(slice_values) as entry from {staging}.stg_inputs
                union all
                select unnest(slice_values) as entry from {staging}.stg_rollouts
            )
            where entry.slice_value is not null
            """
        ).fetchall()
        for name in self.statistics.slice_by:
            if (name,) not in found:
                raise UsageError(self._unknown_field("--slice-by", name))
        answers = f"select count(*) from {staging}.stg_rollouts where has_answer_field"
        if self.statistics.answer_field and self._number(answers) == 0:
            raise UsageError(self._unknown_field("--answer-field", self.statistics.answer_field))

    def _number(self, query: str) -> int:
        row = self.connection.execute(query).fetchone()
        return int(row[0]) if row else 0

    def _unknown_field(self, option: str, name: str) -> str:
        """Say that nothing has a field, and which fields the first lines have."""
        shown = label(name)
        is_answer = option == "--answer-field"
        what = (
            "no rollout has"
            if is_answer
            else "no input or rollout has a text, number or boolean in"
        )
        message = f"{option} {shown}: {what} this field"
        for kind in ("rollouts",) if is_answer else ("inputs", "rollouts"):
            path: Path = getattr(self.sources[0], kind)
            known = ", ".join(label(field, 30) for field in python_reader.scalar_fields(path))
            message += f"\n  fields of the {kind}: {known}" if known else ""
        return message

    def _rewrite(self, source: Source, kind: str) -> Path:
        self.progress(f"reading {kind} line by line")
        target = self.folder / f"{len(list(self.folder.iterdir()))}-{kind}.jsonl"
        path: Path = getattr(source, kind)
        is_torn = source.torn.get(kind, False)
        python_reader.rewrite(path, target, keep=KEEP[kind], skip_torn=is_torn)
        source.torn[kind] = False
        return target

    def _audit(self) -> list[Problem]:
        """Return the first broken invariant of each run, in the order of the audits' ranks."""
        by_run = {source.run.run_id: source.run for source in self.sources}
        problems: dict[str, Problem] = {}
        audits = [audit for audit in self.plan.layer("audits") if audit.name != UNREADABLE]
        for audit in sorted(audits, key=lambda audit: int(audit.meta["rank"])):
            for run_id, count, keys in self._violations(audit):
                problem = _invariant_problem(by_run[run_id], audit, count, keys)
                problems.setdefault(run_id, problem)
        return list(problems.values())

    def _violations(self, audit: Model) -> list[tuple[str, int, list[tuple[int, int]]]]:
        """Return per run how many keys the audit found, and the first of them."""
        return self.connection.execute(
            f"""
            select run_id, max(key_count), list((task_index, rollout_index) order by place)
            from (
                select
                    *,
                    count(*) over (partition by run_id) as key_count,
                    row_number() over (partition by run_id order by task_index, rollout_index)
                        as place
                from {audit.relation}
            )
            where place <= {python_reader.SHOWN}
            group by run_id
            order by run_id
            """
        ).fetchall()


def _check_readable(path: Path, what: str) -> None:
    try:
        if path.exists() and not path.is_file():
            raise FileError(f"the {what} at {path} are not in a regular file")
        with path.open("rb"):
            pass
    except FileNotFoundError as error:
        hint = "\n  what to do: name them with --inputs" if "inputs" in what else ""
        raise FileError(f"no {what} at {path}{hint}") from error
    except OSError as error:
        raise FileError(f"cannot read the {what} at {path}: {error.strerror}") from error


def _file_problem(run: Run, error: FileError) -> Problem:
    if isinstance(error, LinesError):
        return Problem(
            run=run,
            kind="unreadable_lines",
            message=str(error),
            exit_code=error.exit_code,
            count=error.count,
            lines=tuple(error.numbers),
        )
    return Problem(run=run, kind="unreadable_file", message=str(error), exit_code=error.exit_code)


def _invariant_problem(run: Run, audit: Model, count: int, keys: list[tuple[int, int]]) -> Problem:
    file = run.inputs if audit.name.startswith("audit_inputs") else run.rollouts
    more = ", …" if count > len(keys) else ""
    message = (
        f"{audit.meta['kind']} in {file}\n"
        f"  {audit.meta['invariant']}: {count}\n"
        f"  (task, rollout): {', '.join(map(str, keys))}{more}\n"
        f"  what to do: {audit.meta['advice']}"
    )
    return Problem(
        run=run,
        kind=audit.meta["kind"],
        message=message,
        exit_code=1,
        count=count,
        keys=tuple(keys),
    )
