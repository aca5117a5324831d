"""Write tables as one Excel workbook, row by row: a sheet a mart, and one that explains them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from collector.errors import FileError, UsageError
from collector.exporting.snapshot import relation
from collector.exporting.tables import Table, kind_of
from collector.profiling.manifest import Column
from collector.spreadsheets import FORMULA
from collector.warehouse.sql import quoted

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
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def check_rows(tables: Sequence[Table]) -> None:
    """Refuse tables that no sheet can hold, before anything is written."""
    for table in tables:
        if table.row_count > SHEET_ROWS:
            raise UsageError(
                f"{table.name} has {table.row_count:,} rows, and a sheet of Excel holds"
                f" {SHEET_ROWS:,}\n  what to do: take fewer with --run or --select, or use"
                " --format parquet"
            )


def shown_columns(table: Table) -> list[Column]:
    """Return the columns of a sheet: JSON is for programs."""
    return [column for column in table.columns if not column.is_json]


class Book:
    """A workbook that is written from top to bottom."""

    def __init__(self, target: Path) -> None:
        """Begin a workbook; what it puts aside lies beside it."""
        from xlsxwriter import Workbook

        options = {**OPTIONS, "tmpdir": str(target.parent)}
        self._book: Workbook = Workbook(str(target), options)
        self._head = self._book.add_format({"bold": True, "bottom": 1})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        # even if somebody edits the cell it stays a text
        self._text = self._book.add_format({"quote_prefix": True})
        self.cut_count = 0

    def explain(self, tables: Sequence[Table]) -> None:
        """Write the sheet that says what every column means."""
        names = ("table", "column", "type", "meaning")
        sheet = self._sheet(DICTIONARY, names, [22, 30, 10, 120])
        rows = [
            (table.name, column.name, kind_of(column), column.description)
            for table in tables
            for column in shown_columns(table)
        ]
        for number, row in enumerate(rows, start=1):
            for place, value in enumerate(row):
                self._write_text(sheet, number, place, value)

    def add(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: Table,
        progress: Callable[[int], None],
    ) -> None:
        """Write a table as a sheet."""
        columns = shown_columns(table)
        kinds = [kind_of(column) for column in columns]
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
        """Write the file."""
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
        elif kind == "integer" and abs(value) > EXACT:  # Excel would round it
            sheet.write_string(row, place, str(value))
        elif math.isfinite(value):
            sheet.write_number(row, place, value)

    def _write_text(self, sheet: Worksheet, row: int, place: int, value: str) -> None:
        text = value
        if len(text.encode("utf-16-le")) // 2 > CELL_CHARACTERS:  # as Excel counts
            mark = f"… (cut, of {len(text):,} characters)"
            text = text.encode("utf-16-le")[: 2 * (CELL_CHARACTERS - len(mark))].decode(
                "utf-16-le", "ignore"
            )
            text += mark
            self.cut_count += 1
        style: Format | None = self._text if FORMULA.match(text) else None
        sheet.write_string(row, place, text, style)


def _rows(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[Column]
) -> Iterator[tuple[Any, ...]]:
    names = ", ".join(quoted(column.name) for column in columns)
    result = connection.execute(f"select {names} from {relation(table.name)}")
    while rows := result.fetchmany(FETCH_ROWS):
        yield from rows
