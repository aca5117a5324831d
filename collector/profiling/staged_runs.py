"""Check the files of each run, and tell the staging models which files to read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import orjson

from collector.artifacts import Run
from collector.errors import FileError, LinesError
from collector.jsonl import foreign_format
from collector.open_files import require_regular_file
from collector.profiling import python_reader
from collector.profiling.recorded_identity import IDENTITY_FIELDS, recorded_identity
from collector.profiling.run_records import recorded_origin
from collector.profiling.statistics import Statistics, recorded_stopping_rule
from collector.remote_paths import RemotePath

FILE_KINDS = ("rollouts", "inputs", "failures", "verdicts")
PATTERN = re.compile(r"[*?\[\\]")
# the fields of a run that the models read; DuckDB cannot infer the type of an empty list
RUN_TYPE = (
    "struct(run_id varchar, rollouts_path varchar, inputs_path varchar, failures_path varchar,"
    " rollouts_file varchar, inputs_file varchar, failures_file varchar,"
    " torn_rollouts_count bigint, torn_failures_count bigint, verdicts_file varchar,"
    " is_partial_allowed boolean, zero_classes varchar[], is_missing_zero boolean,"
    " prices_path varchar, stopping_rule varchar, origin_rollouts_path varchar,"
    f" {IDENTITY_FIELDS}, tags varchar)"
)


@dataclass
class StagedRun:
    """A run with the files that staging reads for it, which may be rewritten copies."""

    run: Run
    rollouts: Path
    inputs: Path
    failures: Path | None
    verdicts: Path | None
    torn: dict[str, bool] = field(default_factory=dict)
    """Whether the last line of the rollouts and of the failures was cut short."""

    def path(self, kind: str) -> Path | None:
        """Return the file of one of FILE_KINDS, or None if the run has none."""
        path: Path | None = getattr(self, kind)
        return path


def open_run(
    connection: duckdb.DuckDBPyConnection, run: Run, *, is_partial_allowed: bool
) -> StagedRun:
    """Check that the files of a run can be opened; raise FileError if one cannot."""
    _check_readable(run.rollouts, "rollouts")
    _check_readable(run.inputs, "materialized inputs")
    staged = StagedRun(run, run.rollouts, run.inputs, None, run.verdicts)
    staged.torn["rollouts"] = is_partial_allowed and _is_torn(connection, run.rollouts)
    if run.failures.exists():
        _check_readable(run.failures, "failures")
        staged.failures = run.failures
        staged.torn["failures"] = _is_torn(connection, run.failures)
    if run.verdicts:
        _check_readable(run.verdicts, "verdicts")
    return staged


def declare_runs(
    connection: duckdb.DuckDBPyConnection,
    staged_runs: Sequence[StagedRun],
    statistics: Statistics,
    *,
    is_partial_allowed: bool,
    links: Path,
) -> None:
    """Set the variables that name the runs and their files to the staging models."""
    rows = [
        _run_row(staged, statistics, links) | {"is_partial_allowed": is_partial_allowed}
        for staged in staged_runs
    ]
    connection.execute(f"set variable spotter_runs = ?::{RUN_TYPE}[]", [rows])
    for kind in FILE_KINDS:
        # the null device is always among the files, so that DuckDB knows the columns without any
        files = [*filter(None, (row[f"{kind}_file"] for row in rows)), os.devnull]
        connection.execute(f"set variable spotter_{kind}_files = ?", [files])


def _run_row(staged: StagedRun, statistics: Statistics, links: Path) -> dict[str, Any]:
    zeros = statistics.zero_rules(staged.run)
    paths = {kind: staged.path(kind) for kind in FILE_KINDS}
    return {
        "run_id": staged.run.run_id,
        "rollouts_path": str(staged.run.rollouts),
        "inputs_path": str(staged.run.inputs),
        "failures_path": str(staged.run.failures),
        **{
            f"{kind}_file": _plain_name(path, links) if path else "" for kind, path in paths.items()
        },
        "torn_rollouts_count": int(staged.torn.get("rollouts", False)),
        "torn_failures_count": int(staged.torn.get("failures", False)),
        "zero_classes": list(zeros.failure_classes),
        "is_missing_zero": zeros.is_missing_zero,
        "prices_path": statistics.prices.path if statistics.prices else None,
        "stopping_rule": recorded_stopping_rule(staged.run),
        "origin_rollouts_path": recorded_origin(staged.run.rollouts),
        **recorded_identity(staged.run.rollouts),
        "tags": orjson.dumps(dict(staged.run.tags)).decode(),
    }


def _plain_name(path: Path, links: Path) -> str:
    """Return a name of the file that DuckDB does not take for a pattern: a link if need be."""
    # for files in object stores, `DuckdbFiles` says that no address is a pattern
    if isinstance(path, RemotePath) or not PATTERN.search(str(path)):
        return str(path)
    link = links / hashlib.md5(os.fsencode(path)).hexdigest()
    if not link.is_symlink():
        link.symlink_to(path)
    return str(link)


def _check_readable(path: Path, content: str) -> None:
    try:
        require_regular_file(path, content)
        looks_like = foreign_format(path)
    except FileNotFoundError as error:
        hint = "\n  what to do: name the file with --inputs" if "inputs" in content else ""
        raise FileError(f"no {content} at {path}: the file does not exist{hint}") from error
    except OSError as error:
        raise FileError(f"cannot read the {content} at {path}: {error.strerror}") from error
    if looks_like:
        raise LinesError(
            f"{path}:1: the {content} are not lines of JSON\n  the file looks like {looks_like}",
            count=1,
            numbers=[1],
        )


def _is_torn(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Tell whether the last line was cut short: neither Python nor DuckDB reads it as JSON."""
    line = python_reader.unfinished_line(path)
    if line is None:
        return False
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    row = connection.execute("select json_valid(?)", [text]).fetchone()
    return row == (False,)
