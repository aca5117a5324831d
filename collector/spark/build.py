"""Have dbt build the models on Spark, and read what the build made of the batch."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from collector.artifacts import Run
from collector.cache import log_folder
from collector.child_process import spotter_command
from collector.errors import FileError, LinesError, SpotterError, UsageError, install_extra
from collector.profiling.audits import UNREADABLE, find_problems
from collector.profiling.plan import load_plan, project_dir
from collector.profiling.problems import RunProblem, file_problem
from collector.profiling.profile import BrokenRunsError, ProfileSettings
from collector.profiling.statistics import PRICE_FIELDS, PriceList, Statistics
from collector.remote_paths import is_remote, mask_password
from collector.temporary_files import temporary_folder
from collector.terminal import counted_noun
from collector.warehouse.access import OFFLINE, SCRATCH
from collector.warehouse.sql import literal

MARTS_FOLDER = Path("spark-warehouse")
"""Where the marts are unless `SPOTTER_SPARK_WAREHOUSE` names another folder."""
DBT_LOG, STDERR = "dbt.log", "stderr.log"
Listener = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Batch:
    """The runs to build: a rollouts file, or a pattern that matches several."""

    rollouts: str
    inputs: str | None = None
    run_id: str | None = None
    output_dir: Path | None = None
    """The folder for NeMo Gym's files; beside the rollouts if it is None."""
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def part_files(self) -> str | None:
        """Return the folder in an object store where Spark writes the profile in parts."""
        folder = self.output_dir
        return str(folder) if folder and is_remote(folder) else None

    @property
    def has_local_outputs(self) -> bool:
        """Tell whether the output files are on a disk."""
        return not is_remote(self.output_dir or self.rollouts)


@dataclass(frozen=True)
class Failure:
    """A model that could not be built, or a test that failed."""

    name: str
    message: str


def check_installed() -> None:
    """Raise UsageError if Spark cannot be started here."""
    if not all(map(_is_installed, ("pyspark", "dbt.adapters.spark"))):
        raise UsageError(
            "--engine spark needs packages that are not installed\n"
            f"  what to do: {install_extra('spark')}"
        )
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=str(Path(home, "bin")) if home else None):
        place = f"is not in JAVA_HOME ({home})" if home else "is not installed"
        raise UsageError(
            f"--engine spark needs Java 17 or later, which {place}\n"
            "  what to do: install it (Debian: apt install openjdk-17-jre-headless), or set"
            " JAVA_HOME"
        )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is not there
        return False


def marts_folder() -> Path:
    """Return the folder of the marts that Spark writes; raise UsageError if it is not on a disk."""
    given = os.environ.get("SPOTTER_SPARK_WAREHOUSE", "")
    if "://" in given:
        raise UsageError(
            f"SPOTTER_SPARK_WAREHOUSE is {mask_password(given)}, but here the marts must be in a"
            " folder on a disk\n  what to do: build with `dbt build --target spark`, and read the"
            " marts with `spotter merge ADDRESS`"
        )
    return Path(given or MARTS_FOLDER).absolute()


def build(batch: Batch, settings: ProfileSettings, *, listener: Listener) -> list[Run]:
    """Build the marts of the batch on Spark, and return its runs.

    Raise BrokenRunsError if an invariant is broken; the marts then stay as they were.
    """
    settings.statistics.check()
    listener(0, 0, "starting Spark")
    variables = {
        "rollouts": batch.rollouts,
        "inputs": batch.inputs,
        "run_id": batch.run_id,
        "tags": dict(batch.tags),
        "part_files": batch.part_files if settings.is_published else None,
        "allow_partial_rollouts": settings.is_partial_allowed,
        **_statistics_variables(settings.statistics),
    }
    with temporary_folder() as folder:
        failures = _call_dbt(folder, variables, listener)
        if failures is None or any(not _is_audit(failure) for failure in failures):
            raise _build_error(failures or [], _keep_log(folder))
    with _staged_tables(marts_folder()) as connection:
        runs = _runs(connection, batch)
        if failures:
            raise BrokenRunsError(_problems(connection, runs), run_count=len(runs))
    return runs


def _is_audit(failure: Failure) -> bool:
    return failure.name.startswith("is_empty_audit")


def _keep_log(folder: Path) -> Path:
    """Keep what dbt and Spark wrote, and return the file."""
    log = log_folder() / "spark.log"
    files = [folder / name for name in (DBT_LOG, STDERR)]
    log.write_bytes(b"".join(path.read_bytes() for path in files if path.exists()))
    return log


def _build_error(failures: list[Failure], log: Path) -> SpotterError:
    """Return the error of the first model that could not be built."""
    text = failures[0].message if failures else "dbt could not read the project"
    if "PATH_NOT_FOUND" in text:
        return FileError("no file matches the rollouts or their materialized inputs on Spark")
    if scheme := re.search(r'No FileSystem for scheme "?(\w+)', text):
        return UsageError(
            f"Spark has no file system for {scheme[1]}://\n  what to do: give Spark its package"
            " (spark.jars.packages, for S3 org.apache.hadoop:hadoop-aws with s3a:// addresses)"
        )
    found = re.search(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE|$)", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = found[1] if found else "\n  ".join(lines[:2])
    return SpotterError(f"Spark could not build the models: {reason}\n  the log is {log}")


def _statistics_variables(statistics: Statistics) -> dict[str, Any]:
    zeros = statistics.zeros
    return {
        "pass_threshold": statistics.pass_threshold,
        **({"answer_field": statistics.answer_field} if statistics.answer_field else {}),
        "slice_by": list(statistics.slice_by),
        "prices": _price_map(statistics.prices) if statistics.prices else {},
        "count_failure_classes_as_zero": list(zeros.failure_classes) if zeros else [],
        "count_missing_rollouts_as_zero": bool(zeros and zeros.is_missing_zero),
    }


def _price_map(prices: PriceList) -> dict[str, dict[str, float]]:
    return {row[0]: dict(zip(PRICE_FIELDS[1:], row[1:], strict=True)) for row in prices.rows}


def _call_dbt(folder: Path, variables: dict[str, Any], listener: Listener) -> list[Failure] | None:
    """Run `dbt build` with its tests, and return what failed; None if dbt did not get so far."""
    project = str(project_dir())
    words = [
        *("build", "--quiet", "--no-use-colors"),
        *("--selector", "profile", "--target", "spark", "--vars", json.dumps(variables)),
        *("--project-dir", project, "--profiles-dir", project),
        *("--target-path", str(folder), "--log-path", str(folder)),
    ]
    answer: dict[str, Any] = {"failures": None}
    with (
        (folder / STDERR).open("wb") as stderr,
        subprocess.Popen(
            spotter_command(*words, module="collector.spark.worker"),
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "SPOTTER_SPARK_WAREHOUSE": str(marts_folder())},
        ) as process,
    ):
        assert process.stdout
        try:
            for line in process.stdout:
                answer = json.loads(line)
                if "step" in answer:
                    listener(*answer["step"])
        except BaseException:
            process.kill()  # its JVM ends with it
            raise
    failures = answer.get("failures")
    return None if failures is None else [Failure(**failure) for failure in failures]


@contextlib.contextmanager
def _staged_tables(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open what Spark staged and audited, under the names that the plan has for DuckDB."""
    with duckdb.connect(config=OFFLINE) as connection:
        connection.execute(f"attach ':memory:' as {SCRATCH}")
        for schema in ("staging", "audits"):
            connection.execute(f"create schema {SCRATCH}.{schema}")
            for table in sorted((folder / "scratch" / schema).glob("*")):
                if any(table.glob("*.parquet")):
                    connection.execute(
                        f"create view {SCRATCH}.{schema}.{table.name} as"
                        f" from read_parquet({literal(table / '*.parquet')})"
                    )
        yield connection


def _runs(connection: duckdb.DuckDBPyConnection, batch: Batch) -> list[Run]:
    """Return the runs of the batch."""
    rows = connection.execute(
        f"select run_id, rollouts_path, inputs_path from {SCRATCH}.staging.stg_runs order by 1"
    ).fetchall()
    return [
        Run(
            run_id,
            Path(rollouts),
            Path(inputs),
            (batch.output_dir or Path(rollouts).parent).absolute(),
            has_given_name=batch.run_id is not None,
        )
        for run_id, rollouts, inputs in rows
    ]


def _problems(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[RunProblem]:
    """Return what the audits found."""
    by_id = {run.run_id: run for run in runs}
    rows = connection.execute(f"from {SCRATCH}.audits.{UNREADABLE} order by all").fetchall()
    if rows:
        return [_unreadable_problem(by_id[run_id], kind, count) for run_id, kind, count in rows]
    return find_problems(connection, load_plan(), runs)


def _unreadable_problem(run: Run, kind: str, count: int) -> RunProblem:
    lines = counted_noun(count, "line")
    message = (
        f"{lines} of {getattr(run, kind)} cannot be read\n  what to do: `spotter profile` without"
        " --engine names the lines, and reads some that Spark cannot"
    )
    return file_problem(run, LinesError(message, count=count, numbers=[]))
