"""Write marts as one Excel workbook: a summary, a dictionary of columns, and a sheet per mart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from collector.errors import FileError, UsageError
from collector.exporting.snapshot import relation
from collector.exporting.tables import MartTable, column_type
from collector.profiling.manifest import ModelColumn
from collector.spreadsheets import FORMULA
from collector.warehouse.sql import quote_name

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

NAME = "spotter.xlsx"
SHEET_ROWS = 1_048_575  # below the header
CELL_CHARACTERS = 32_767
EXACT = 2**53
FETCH_ROWS = 1_000
WIDTHS = {"string": 28, "datetime": 20}
DICTIONARY = "dictionary"
SUMMARY = "summary"
OVERVIEW = "run_overviews"
NO_TAGS = "{}"
# the columns of the first sheet, with their titles, widths and number formats
SUMMARY_COLUMNS: dict[str, tuple[str, int, str]] = {
    "run_id": ("run", 40, ""),
    "model_names": ("model", 32, ""),
    "agent_name": ("agent", 28, ""),
    "tags": ("tags", 28, ""),
    "collection_ended_at": ("collected (UTC)", 18, "yyyy-mm-dd hh:mm"),
    "expected_task_count": ("tasks", 10, "#,##0"),
    "expected_rollout_count": ("rollouts", 10, "#,##0"),
    "reward_mean": ("mean reward", 12, "0.000"),
    "reward_low": ("from (95 %)", 12, "0.000"),
    "reward_high": ("to (95 %)", 12, "0.000"),
    "pass_rate": ("pass@1", 10, "0.0 %"),
    "completion_pct": ("completed in %", 14, "0.0"),
    "clean_ratio": ("clean", 10, "0.0 %"),
    "total_tokens_mean": ("tokens per rollout", 18, "#,##0"),
}
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def check_rows(tables: Sequence[MartTable]) -> None:
    """Raise UsageError if a mart has more rows than a sheet can hold."""
    for table in tables:
        if table.row_count > SHEET_ROWS:
            raise UsageError(
                f"{table.name} has {table.row_count:,} rows, but a sheet of Excel can hold only"
                f" {SHEET_ROWS:,}\n  what to do: export fewer with --run or --select, or use"
                " --format parquet"
            )


def sheet_columns(table: MartTable) -> list[ModelColumn]:
    """Return the columns of a sheet, which leaves out those with JSON."""
    return [column for column in table.columns if not column.is_json]


class Book:
    """A workbook that is written row by row, without holding a sheet in memory."""

    def __init__(self, target: Path) -> None:
        """Begin a workbook; its temporary files lie in the same folder."""
        from xlsxwriter import Workbook

        options = {**OPTIONS, "tmpdir": str(target.parent)}
        self._book: Workbook = Workbook(str(target), options)
        self._head = self._book.add_format({"bold": True, "bottom": 1})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        # the cell stays a text even if somebody edits it
        self._text = self._book.add_format({"quote_prefix": True})
        self.cut_count = 0

    def summarize(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write the sheet that the workbook opens on: a row per run and agent, for reading."""
        titles = [title for title, _, _ in SUMMARY_COLUMNS.values()]
        sheet = self._sheet(SUMMARY, titles, [width for _, width, _ in SUMMARY_COLUMNS.values()])
        styles = [
            self._book.add_format({"num_format": style}) for _, _, style in SUMMARY_COLUMNS.values()
        ]
        rows = connection.execute(
            f"select {', '.join(SUMMARY_COLUMNS)} from {relation(OVERVIEW)}"
            " order by collection_ended_at, run_id, agent_name"
        ).fetchall()
        for number, row in enumerate(rows, start=1):
            for place, value in enumerate(row):
                if value != NO_TAGS:
                    self._write_styled(sheet, number, place, value, styles[place])
        sheet.autofilter(0, 0, max(1, len(rows)), len(titles) - 1)

    def _write_styled(
        self, sheet: Worksheet, row: int, place: int, value: Any, style: Format
    ) -> None:
        if isinstance(value, str):
            self._write_text(sheet, row, place, value)
        elif isinstance(value, datetime):
            sheet.write_datetime(row, place, value, style)
        elif value is not None and math.isfinite(value):
            sheet.write_number(row, place, value, style)

    def explain(self, tables: Sequence[MartTable]) -> None:
        """Write the sheet that describes every column."""
        names = ("table", "column", "type", "meaning")
        sheet = self._sheet(DICTIONARY, names, [22, 30, 10, 120])
        rows = [
            (table.name, column.name, column_type(column), column.description)
            for table in tables
            for column in sheet_columns(table)
        ]
        for number, row in enumerate(rows, start=1):
            for place, value in enumerate(row):
                self._write_text(sheet, number, place, value)

    def add(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: MartTable,
        progress: Callable[[int], None],
    ) -> None:
        """Write a mart as a sheet; call `progress` with the number of rows so far."""
        columns = sheet_columns(table)
        kinds = [column_type(column) for column in columns]
        widths = [WIDTHS.get(kind, 14) for kind in kinds]
        sheet = self._sheet(table.name, [column.name for column in columns], widths)
        sheet.autofilter(0, 0, table.row_count, len(columns) - 1)
        for number, row in enumerate(_rows(connection, table, columns), start=1):
            for place, (kind, value) in enumerate(zip(kinds, row, strict=True)):
                if value is not None:
                    self._write(sheet, number, place, kind=kind, value=value)
            if number % FETCH_ROWS == 0:
                progress(number)

    def close(self) -> None:
        """Write the file; raise FileError if that fails."""
        from xlsxwriter.exceptions import FileCreateError

        try:
            self._book.close()
        except FileCreateError as error:
            raise FileError(f"cannot write the workbook: {error}") from error

    def _sheet(self, name: str, columns: Sequence[str], widths: Sequence[int]) -> Worksheet:
        sheet = self._book.add_worksheet(name)
        for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
            sheet.set_column(place, place, max(width, len(column) + 3))
            sheet.write_string(0, place, column, self._head)
        sheet.freeze_panes(1, 0)
        return sheet

    def _write(self, sheet: Worksheet, row: int, place: int, *, kind: str, value: Any) -> None:
        if kind == "string":
            self._write_text(sheet, row, place, value)
        elif kind == "datetime":
            assert isinstance(value, datetime)
            sheet.write_datetime(row, place, value, self._time)
        elif kind == "boolean":
            sheet.write_boolean(row, place, value)
        elif kind == "integer" and abs(value) > EXACT:  # Excel would round the number
            sheet.write_string(row, place, str(value))
        elif math.isfinite(value):
            sheet.write_number(row, place, value)

    def _write_text(self, sheet: Worksheet, row: int, place: int, value: str) -> None:
        text = value
        if len(text.encode("utf-16-le")) // 2 > CELL_CHARACTERS:  # Excel counts UTF-16 units
            mark = f"… (cut, of {len(text):,} characters)"
            text = text.encode("utf-16-le")[: 2 * (CELL_CHARACTERS - len(mark))].decode(
                "utf-16-le", "ignore"
            )
            text += mark
            self.cut_count += 1
        style: Format | None = self._text if FORMULA.match(text) else None
        sheet.write_string(row, place, text, style)


def _rows(
    connection: duckdb.DuckDBPyConnection, table: MartTable, columns: Sequence[ModelColumn]
) -> Iterator[tuple[Any, ...]]:
    names = ", ".join(quote_name(column.name) for column in columns)
    result = connection.execute(f"select {names} from {relation(table.name)}")
    while rows := result.fetchmany(FETCH_ROWS):
        yield from rows
