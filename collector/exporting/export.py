"""Export marts: copy them into a snapshot, make the other files of it, publish everything."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import orjson

from collector.errors import FileError, UsageError
from collector.exporting import excel, files, schema
from collector.exporting.progress import Bar
from collector.exporting.publication import publish, working_folder
from collector.exporting.snapshot import SNAPSHOT, Source, copy_marts
from collector.exporting.tables import Table, Wanted, choose_marts
from collector.profiling.plan import load_plan
from collector.warehouse.access import check_path, is_duckdb
from collector.warehouse.queries import require_warehouse
from collector.warehouse.scratch import default_memory_limit, defects_logged, open_limited

SNAPSHOT_NAME = "snapshot.duckdb"
PLACES = {"xlsx": excel.NAME, "snapshot": SNAPSHOT_NAME}
READ_ONLY = 0o444
REMOTE = re.compile(r"\w{2,}:/")
WRITABLE = 0o222


@dataclass
class Exported:
    """What was written, and where."""

    output: Path
    tables: list[Table]
    places: dict[str, Path]
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Work:
    """An export that is going on."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    wanted: Wanted
    bar: Bar


def export(
    warehouse: Path, output: Path, wanted: Wanted, *, memory_limit: str | None = None
) -> Exported:
    """Export the wanted marts; a failure leaves the last export as it was."""
    wanted.check()
    require_warehouse(warehouse)
    output = _checked(output)
    places = {name: output / PLACES.get(name, name) for name in wanted.names}
    models = choose_marts(load_plan(), wanted.marts)
    check_path(output / SNAPSHOT_NAME, "an export")
    _check_places(places, warehouse)
    bar = Bar(1 + len([name for name in wanted.names if name != "snapshot"]))
    with (
        _closing(bar),
        defects_logged("export"),
        working_folder(output, on_wait=bar.wait) as folder,
    ):
        with open_limited(memory_limit or _memory_limit(), folder / "spill") as connection:
            connection.execute("set enable_progress_bar = true")
            connection.execute("set enable_progress_bar_print = false")
            work = _Work(connection, folder, wanted, bar)
            made = Exported(output, [], places)
            source = Source(warehouse, models, wanted.runs)
            made.tables = copy_marts(
                connection, source, folder / SNAPSHOT_NAME, check=_checker(wanted), bar=bar
            )
            if wanted.is_partitioned:
                files.check_partitions(connection)
            for name in wanted.names:
                if name != "snapshot":
                    _write(work, name, made)
            connection.execute(f"detach {SNAPSHOT}")
        snapshot = folder / SNAPSHOT_NAME
        snapshot.chmod(snapshot.stat().st_mode & READ_ONLY)
        made.warnings += _losses(wanted, places)
        publish(folder, output, [place.name for place in places.values()])
    return made


def _losses(wanted: Wanted, places: dict[str, Path]) -> list[str]:
    """Say that earlier exports are replaced by a part, which may not be what was meant."""
    replaced = [str(place) for place in places.values() if place.exists()]
    if not (replaced and (wanted.marts or wanted.runs)):
        return []
    return [
        f"{' and '.join(replaced)} now {'has' if len(replaced) == 1 else 'have'} only what was"
        " selected (--no-snapshot leaves the snapshot, another --output-dir everything as it was)"
    ]


def _memory_limit() -> str:
    """Return what a profile may use, but no more than what an export can make use of."""
    return min(default_memory_limit(), "2048MiB", key=lambda text: int(text.removesuffix("MiB")))


def _checked(output: Path) -> Path:
    """Return the folder as DuckDB understands it; refuse what is not a folder of this machine."""
    if REMOTE.match(str(output)):
        raise UsageError(
            f"--output-dir {output}: exports are written to folders of this machine\n"
            "  what to do: write to one, and copy it from there"
        )
    try:
        return output.expanduser()
    except RuntimeError as error:  # ~ of somebody who is not there
        raise UsageError(f"--output-dir {output}: {error}") from error


def _checker(wanted: Wanted) -> Callable[[Sequence[Table]], None]:
    """Return what refuses tables that a format cannot hold, before anything is written."""
    return excel.check_rows if "xlsx" in wanted.names else lambda _: None


@contextlib.contextmanager
def _closing(bar: Bar) -> Iterator[None]:
    try:
        yield
    finally:
        bar.clear()


def _write(work: _Work, name: str, made: Exported) -> None:
    if name == "xlsx":
        _write_workbook(work, made)
    else:
        _write_folder(work, name, made.tables)


def _write_folder(work: _Work, name: str, tables: list[Table]) -> None:
    folder = work.folder / name
    folder.mkdir()
    is_partitioned = name == "parquet" and work.wanted.is_partitioned
    places = {}
    for table in tables:
        with work.bar.step(f"{table.name} as {name}", table.row_count, work.connection):
            places[table.name] = (
                files.write_partitions(work.connection, table, folder)
                if is_partitioned
                else files.write_table(work.connection, table, files.KINDS[name], folder)
            )
    schema.write_schema(folder, tables, kind=name, places=places, is_partitioned=is_partitioned)


def _write_workbook(work: _Work, made: Exported) -> None:
    book = excel.Book(work.folder / excel.NAME)
    book.explain(made.tables)
    for table in made.tables:
        label = f"{table.name} as xlsx"
        with work.bar.step(label, table.row_count):
            book.add(work.connection, table, _shower(work.bar, label))
    book.close()
    if book.cut_count:
        made.warnings.append(
            f"{book.cut_count:,} texts are longer than the {excel.CELL_CHARACTERS:,} characters"
            " that a cell of Excel holds: they are cut there, and end with how long they were"
        )


def _shower(bar: Bar, label: str) -> Callable[[int], None]:
    return lambda rows: bar.show(label, rows)


def _check_places(places: dict[str, Path], warehouse: Path) -> None:
    """Refuse to replace anything but an earlier export, and the warehouse that is exported."""
    for name, place in places.items():
        reason = _objection(name, place, warehouse)
        if reason:
            raise FileError(
                f"{place} {reason}, and would be replaced\n"
                "  what to do: choose another folder with --output-dir"
            )


def _objection(name: str, place: Path, warehouse: Path) -> str:
    """Say why something must not be replaced."""
    if place.is_symlink():
        return "is a link"
    if not place.exists():
        return ""
    is_ours = _is_export(place) if place.is_dir() else _is_file_of(name, place)
    is_kind = place.is_dir() != (name in PLACES)
    if not (is_ours and is_kind) or place.samefile(warehouse):
        return "is not an earlier export"
    # a warehouse can be written to, a snapshot cannot
    if name == "snapshot" and place.stat().st_mode & WRITABLE:
        return f"can be written to, so it may be a warehouse (`chmod a-w {place}` if it is not)"
    return ""


def _is_export(folder: Path) -> bool:
    """Tell whether a folder holds our description."""
    try:
        package = orjson.loads((folder / schema.NAME).read_bytes())
        return bool(package["name"] == schema.PACKAGE)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _is_file_of(name: str, place: Path) -> bool:
    if not place.is_file():
        return False
    if name == "snapshot":
        return is_duckdb(place)
    with place.open("rb") as file:
        return file.read(2) == b"PK"
