"""Read a folder with the marts as Parquet files, as Spark writes them, also in an object store.

A mart is `<folder>/<mart>/run_id=<run>/<part>.parquet`. Other files are ignored: a build that is
stopped leaves some, whose names begin with a dot or an underscore.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import duckdb

from collector.errors import FileError
from collector.profiling.manifest import CompiledModel
from collector.profiling.plan import load_plan
from collector.remote_paths import RemotePath
from collector.terminal import label
from collector.warehouse.sql import literal, quote_name

PREFIX = "run_id="
UNNAMED = ("", "__HIVE_DEFAULT_PARTITION__")
# DuckDB takes a path with one of these for a pattern, or misreads it
PATTERN = re.compile(r"[*?\[\\]")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
REBUILD = "build its runs again with this version, and merge the new folder"


@dataclass(frozen=True)
class PartFile:
    """A file with rows of one run."""

    path: Path
    run_id: str


def check_folder(path: Path) -> None:
    """Raise FileError if a folder has no marts."""
    if not any(_part_files(path, "runs")):
        raise FileError(
            f"{path} is a folder without marts: it has no runs/run_id=…/*.parquet\n"
            "  what to do: name a warehouse, or the folder that a build on Spark filled"
        )


def attach_folder(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    name: str,
    run_ids: Collection[str] | None,
) -> None:
    """Attach a database with a view of every mart, with the rows of some runs.

    Without `run_ids`, only the mart `runs` is there, with all runs. A mart without files is empty.
    Raise FileError if a file was not written by a build of this version.
    """
    connection.execute(f"attach ':memory:' as {name}")
    for model in load_plan().batch("marts"):
        if run_ids is None and model.name != "runs":
            continue
        files = [
            file
            for file in _part_files(path, model.name)
            if run_ids is None or file.run_id in run_ids
        ]
        _attach_mart(connection, model, files, name)


def _part_files(path: Path, mart: str) -> Iterator[PartFile]:
    """Give the files of a mart; raise FileError if the name of a run cannot be told."""
    folders: dict[str, Path] = {}
    for file in sorted((path / mart).glob(f"{PREFIX}*/*.parquet")):
        if file.name[0] in "._":
            continue
        run_id = unquote(file.parent.name.removeprefix(PREFIX))
        if run_id in UNNAMED or CONTROL.search(run_id):
            raise FileError(
                f"{file.parent} does not name a run\n  what to do: remove the folder, and build"
                " its runs again with names of their own"
            )
        if folders.setdefault(run_id, file.parent) != file.parent:
            raise FileError(
                f"{folders[run_id]} and {file.parent} are the same run, {label(run_id)}\n"
                "  what to do: remove the one that is wrong"
            )
        if PATTERN.search(str(file)):
            raise FileError(
                f"cannot read {file}: its path has one of the characters * ? [ \\\n"
                "  what to do: move the folder to another place"
            )
        yield PartFile(file, run_id)


def _attach_mart(
    connection: duckdb.DuckDBPyConnection,
    model: CompiledModel,
    files: list[PartFile],
    name: str,
) -> None:
    relation = f"{name}.main.{quote_name(model.name)}"
    if not files:
        columns = ", ".join(
            f"{quote_name(column.name)} {column.data_type}" for column in model.columns
        )
        connection.execute(f"create table {relation} ({columns})")
        return
    for file in files:
        _check_file(connection, model, file.path)
    runs = f"{name}.main.{quote_name(f'files of {model.name}')}"
    connection.execute(f"create table {runs} (path varchar, run_id varchar)")
    connection.executemany(
        f"insert into {runs} values (?, ?)", [[str(file.path), file.run_id] for file in files]
    )
    columns = ", ".join(
        f"{'runs' if column.name == 'run_id' else 'parts'}.{quote_name(column.name)}"
        for column in model.columns
    )
    # a folder above that looks like a partition must not become a column
    paths = ", ".join(literal(file.path) for file in files)
    connection.execute(
        f"create view {relation} as select {columns}"
        f" from read_parquet([{paths}], hive_partitioning = false, filename = 'part file') as parts"
        f' inner join {runs} as runs on parts."part file" = runs.path'
    )


def _check_file(connection: duckdb.DuckDBPyConnection, model: CompiledModel, path: Path) -> None:
    """Raise FileError if a file is damaged, or does not have the columns of its mart."""
    try:
        rows = connection.execute(
            "select name, lower(duckdb_type) from parquet_schema(?)", [str(path)]
        ).fetchall()
    except (duckdb.InvalidInputException, duckdb.IOException, duckdb.ConversionException) as error:
        if isinstance(path, RemotePath) and path.store.failure:
            raise  # the store's own error says more
        raise FileError(
            f"cannot read {path}, a file of the mart {model.name}: {str(error).splitlines()[0]}\n"
            f"  what to do: {REBUILD}"
        ) from error
    found = dict(rows)
    wrong = [
        f"no column {column.name}"
        if column.name not in found
        else f"{column.name} is {found[column.name]}, not {column.data_type}"
        for column in model.columns
        if column.name != "run_id" and found.get(column.name) != column.data_type.lower()
    ]
    if wrong:
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise FileError(
            f"{path} was written by another version: {', '.join(wrong[:3])}{more}\n"
            f"  what to do: {REBUILD}"
        )
