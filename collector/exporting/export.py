"""Export marts: copy them into a snapshot, write the other files from it, publish everything."""

from __future__ import annotations

import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import orjson

from collector.errors import FileError, UsageError
from collector.exporting import excel, files, schema
from collector.exporting.progress import Bar
from collector.exporting.publication import publish, working_folder
from collector.exporting.snapshot import SNAPSHOT, MartSelection, copy_marts
from collector.exporting.tables import FORMATS, ExportRequest, MartTable, choose_marts
from collector.exporting.trajectories import write_trajectories
from collector.profiling.plan import load_plan
from collector.terminal import counted_noun
from collector.warehouse.access import check_path, is_duckdb
from collector.warehouse.queries import require_warehouse
from collector.warehouse.scratch import default_memory_limit, log_defects, open_scratch

SNAPSHOT_NAME = "snapshot.duckdb"
FILE_NAMES = {"xlsx": excel.NAME, "snapshot": SNAPSHOT_NAME}
READ_ONLY = 0o444
REMOTE = re.compile(r"\w{2,}:/")
WRITABLE = 0o222


@dataclass
class ExportResult:
    """The exported marts, the path of each format, and warnings for the user."""

    output: Path
    tables: list[MartTable]
    paths: dict[str, Path]
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _ExportJob:
    """A running export."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    request: ExportRequest
    bar: Bar


def export(
    warehouse: Path, output: Path, request: ExportRequest, *, memory_limit: str | None = None
) -> ExportResult:
    """Export the requested marts; a failure leaves the previous export unchanged."""
    request.check()
    require_warehouse(warehouse)
    output = _local_folder(output)
    paths = {name: output / FILE_NAMES.get(name, name) for name in request.names}
    selection = MartSelection(warehouse, choose_marts(load_plan(), request.marts), request.runs)
    check_path(output / SNAPSHOT_NAME, "an export")
    _check_replaced_paths(paths, warehouse)
    bar = Bar(1 + len([name for name in request.names if name != "snapshot"]))
    result = ExportResult(output, [], paths)
    with (
        _clear_at_end(bar),
        log_defects("export"),
        working_folder(output, on_wait=bar.wait) as folder,
    ):
        with open_scratch(memory_limit or _default_limit(), folder / "spill") as connection:
            _write_files(_ExportJob(connection, folder, request, bar), selection, result)
        snapshot = folder / SNAPSHOT_NAME
        snapshot.chmod(snapshot.stat().st_mode & READ_ONLY)
        result.warnings += _replacement_warnings(request, paths)
        result.warnings += _stale_warnings(request, output)
        publish(folder, output, [path.name for path in paths.values()])
    return result


def _write_files(job: _ExportJob, selection: MartSelection, result: ExportResult) -> None:
    """Write the snapshot and the files of all formats into the working folder."""
    # DuckDB must measure the progress of queries, but not draw it
    job.connection.execute("set enable_progress_bar = true")
    job.connection.execute("set enable_progress_bar_print = false")
    result.tables = copy_marts(
        job.connection,
        selection,
        job.folder / SNAPSHOT_NAME,
        check=_size_check(job.request),
        bar=job.bar,
    )
    if job.request.is_partitioned or "atif" in job.request.names:
        files.check_partitions(job.connection)
    for name in job.request.names:
        if name == "xlsx":
            _write_workbook(job, result)
        elif name == "atif":
            _write_trajectories(job, selection.warehouse.parent, result.tables)
        elif name != "snapshot":
            _write_folder(job, name, result.tables)
    job.connection.execute(f"detach {SNAPSHOT}")


def _replacement_warnings(request: ExportRequest, paths: dict[str, Path]) -> list[str]:
    """Warn if a selection replaces earlier exports, which may have been complete."""
    replaced = [str(path) for path in paths.values() if path.exists()]
    if not (replaced and (request.marts or request.runs)):
        return []
    return [
        f"{' and '.join(replaced)} now {'has' if len(replaced) == 1 else 'have'} only what was"
        " selected (use --no-snapshot to keep the previous snapshot, or another --output-dir to"
        " keep everything)"
    ]


def _stale_warnings(request: ExportRequest, output: Path) -> list[str]:
    """Name the formats of earlier exports that this one does not renew, with their age."""
    stale = [
        f"{path} ({_age(path)} old)"
        for name in FORMATS
        if name not in request.names
        and (path := output / FILE_NAMES.get(name, name)).exists()
        and (_is_export_folder(path) if path.is_dir() else _is_export_file(name, path))
    ]
    if not stale:
        return []
    return [f"not renewed, because only other formats were asked for: {', '.join(stale)}"]


def _age(path: Path) -> str:
    seconds = max(0.0, time.time() - path.stat().st_mtime)
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return counted_noun(int(seconds // length), unit)
    return "less than a minute"


def _default_limit() -> str:
    """Return the default of a profile, but at most 2 GiB: an export does not profit from more."""
    return min(default_memory_limit(), "2048MiB", key=lambda text: int(text.removesuffix("MiB")))


def _local_folder(output: Path) -> Path:
    """Expand ~ in the path of a folder; raise UsageError if the folder is not on this machine."""
    if REMOTE.match(str(output)):
        raise UsageError(
            f"--output-dir {output}: an export is written to a folder on this machine\n"
            "  what to do: export to a local folder, and copy the files from there"
        )
    try:
        return output.expanduser()
    except RuntimeError as error:  # ~ of an unknown user
        raise UsageError(f"--output-dir {output}: {error}") from error


def _size_check(request: ExportRequest) -> Callable[[Sequence[MartTable]], None]:
    """Return a function that raises UsageError if a format cannot hold the marts."""
    return excel.check_rows if "xlsx" in request.names else lambda _: None


@contextlib.contextmanager
def _clear_at_end(bar: Bar) -> Iterator[None]:
    try:
        yield
    finally:
        bar.clear()


def _write_folder(job: _ExportJob, name: str, tables: list[MartTable]) -> None:
    folder = job.folder / name
    folder.mkdir()
    is_partitioned = name == "parquet" and job.request.is_partitioned
    paths = {}
    for table in tables:
        with job.bar.step(f"{table.name} as {name}", table.row_count, job.connection):
            paths[table.name] = (
                files.write_partitions(job.connection, table, folder)
                if is_partitioned
                else files.write_table(job.connection, table, files.FILE_FORMATS[name], folder)
            )
    schema.write_schema(
        folder, tables, file_format=name, paths=paths, is_partitioned=is_partitioned
    )


def _write_workbook(job: _ExportJob, result: ExportResult) -> None:
    book = excel.Book(job.folder / excel.NAME)
    if any(table.name == excel.OVERVIEW for table in result.tables):
        book.summarize(job.connection)
    book.explain(result.tables)
    for table in result.tables:
        label = f"{table.name} as xlsx"
        with job.bar.step(label, table.row_count):
            book.add(job.connection, table, functools.partial(job.bar.show, label))
    book.close()
    if book.cut_count:
        result.warnings.append(
            f"{counted_noun(book.cut_count, 'text')} exceeded the {excel.CELL_CHARACTERS:,}"
            " characters that a cell of Excel holds; a text that was cut ends with its original"
            " length"
        )


def _write_trajectories(job: _ExportJob, index_parent: Path, tables: list[MartTable]) -> None:
    label = "rollouts as atif"
    rows = next(table.row_count for table in tables if table.name == "rollout_infos")
    with job.bar.step(label, rows):
        show = functools.partial(job.bar.show, label)
        write_trajectories(job.connection, job.folder / "atif", index_parent, show)


def _check_replaced_paths(paths: dict[str, Path], warehouse: Path) -> None:
    """Raise FileError if the export would replace anything but an earlier export."""
    for name, path in paths.items():
        reason = _objection(name, path, warehouse)
        if reason:
            raise FileError(
                f"cannot replace {path}: it {reason}\n"
                "  what to do: choose another folder with --output-dir"
            )


def _objection(name: str, path: Path, warehouse: Path) -> str:
    """Return why the export must not replace a path, or an empty text if it may."""
    if path.is_symlink():
        return "is a link"
    if not path.exists():
        return ""
    is_ours = _is_export_folder(path) if path.is_dir() else _is_export_file(name, path)
    is_expected_type = path.is_dir() != (name in FILE_NAMES)
    if not (is_ours and is_expected_type) or path.samefile(warehouse):
        return "is not an earlier export"
    # an exported snapshot is read-only, a warehouse is not
    if name == "snapshot" and path.stat().st_mode & WRITABLE:
        return f"is writable, so it may be a warehouse (`chmod a-w {path}` if it is not)"
    return ""


def _is_export_folder(folder: Path) -> bool:
    """Tell whether a folder has the schema file of an export."""
    try:
        package = orjson.loads((folder / schema.NAME).read_bytes())
        return bool(package["name"] == schema.PACKAGE)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _is_export_file(name: str, path: Path) -> bool:
    if not path.is_file():
        return False
    if name == "snapshot":
        return is_duckdb(path)
    with path.open("rb") as file:
        return file.read(2) == b"PK"
