"""The company's tables; each session changes its own copy."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Record = dict[str, Any]
ID_WIDTH = 8
COLUMNS = {
    "emails": ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"),
    "calendar_events": ("event_id", "event_name", "participant_email", "event_start", "duration"),
    "analytics_data": (
        *("date_of_visit", "visitor_id", "page_views"),
        *("session_duration_seconds", "traffic_source", "user_engaged"),
    ),
    "project_tasks": (
        *("task_id", "task_name", "assigned_to_email"),
        *("list_name", "due_date", "board"),
    ),
    "customer_relationship_manager_data": (
        *("customer_id", "assigned_to_email", "customer_name", "customer_email", "customer_phone"),
        *("last_contact_date", "product_interest", "status", "follow_up_by", "notes"),
    ),
}
ADDRESSES = "email_addresses"
# the verdict compares these columns with case, and all others without
EXACT_COLUMNS = ("status", "list_name", "board")


@dataclass
class RecordTable:
    """Records in order; the first column is the id.

    NeMo Gym keeps the records in data frames, and its verdict compares their row numbers too.
    Deleting a record leaves a gap; creating one renumbers the rows, except in the calendar.
    """

    columns: tuple[str, ...]
    records: list[Record]
    numbers: list[int]
    is_renumbered: bool = True

    def copy(self) -> RecordTable:
        """Return a copy of the table; it shares the records, which are never changed in place."""
        return RecordTable(self.columns, list(self.records), list(self.numbers), self.is_renumbered)

    def find(self, record_id: str) -> Record | None:
        """Return the record with an id, or None."""
        position = self._position(record_id)
        return None if position is None else self.records[position]

    def next_id(self) -> str:
        """Return the id after the largest one; raise ValueError if that one is not a number."""
        largest = max((str(record[self.columns[0]]) for record in self.records), default="-1")
        return str(int(largest) + 1).zfill(ID_WIDTH)

    def create(self, record_id: str, values: Mapping[str, Any]) -> str:
        """Append a record, and return its id."""
        record = {name: values.get(name) for name in self.columns}
        self.records.append({**record, self.columns[0]: record_id})
        is_renumbered = self.is_renumbered
        self.numbers = list(range(len(self.records))) if is_renumbered else [*self.numbers, 0]
        return record_id

    def update(self, record_id: str, column: str, value: Any) -> None:
        """Change one value of a record, if the record exists."""
        position = self._position(record_id)
        if position is not None:
            self.records[position] = {**self.records[position], column: value}

    def delete(self, record_id: str) -> None:
        """Delete a record, if it exists."""
        position = self._position(record_id)
        if position is not None:
            del self.records[position], self.numbers[position]

    def content(self) -> list[tuple[Any, ...]]:
        """Return the values that the verdict compares, in order and mostly in lower case."""
        return [
            (
                number,
                *(
                    value if name in EXACT_COLUMNS or not isinstance(value, str) else value.lower()
                    for name, value in record.items()
                ),
            )
            for number, record in zip(self.numbers, self.records, strict=True)
        ]

    def _position(self, record_id: str) -> int | None:
        key = self.columns[0]
        positions = (n for n, record in enumerate(self.records) if record[key] == record_id)
        return next(positions, None)


@dataclass(frozen=True)
class Company:
    """The initial tables of every task, and all email addresses."""

    tables: Mapping[str, RecordTable]
    addresses: tuple[str, ...]

    def new_state(self) -> WorkplaceState:
        """Return a copy of the tables for one session."""
        return WorkplaceState(
            {name: table.copy() for name, table in self.tables.items()},
            self.addresses,
        )


@dataclass
class WorkplaceState:
    """The tables of one session, and the plots that it created."""

    tables: dict[str, RecordTable]
    addresses: tuple[str, ...]
    plots: list[str] = field(default_factory=list)

    def content(self) -> list[Any]:
        """Return the content by which the verdict compares two sessions."""
        changing = (name for name in self.tables if name != "analytics_data")
        return [self.plots, *(self.tables[name].content() for name in changing)]


def load_company(folder: Path) -> Company:
    """Read the six tables of a folder; raise ValueError if one is missing or malformed.

    In NeMo Gym the addresses are in the folder `raw` beside it.
    """
    if not folder.is_dir():
        raise ValueError(
            f"{folder} is not a folder: data_dir must name the folder of the six tables"
        )
    tables = {
        name: _read_table(folder / f"{name}.csv", columns) for name, columns in COLUMNS.items()
    }
    paths = [folder / f"{ADDRESSES}.csv", folder.parent / "raw" / f"{ADDRESSES}.csv"]
    path = next(filter(Path.is_file, paths), paths[0])
    return Company(tables, tuple(line[0] for _, line in _read_lines(path) if "@" in line[0]))


def _read_table(path: Path, columns: tuple[str, ...]) -> RecordTable:
    lines = list(_read_lines(path))
    if not lines or tuple(lines[0][1]) != columns:
        raise ValueError(f"{path}: the first line must be {','.join(columns)}")
    records = []
    for number, line in lines[1:]:
        if len(line) != len(columns):
            raise ValueError(f"{path}:{number}: {len(line)} values, expected {len(columns)}")
        records.append({name: value or None for name, value in zip(columns, line, strict=True)})
    is_renumbered = path.stem != "calendar_events"
    return RecordTable(columns, records, list(range(len(records))), is_renumbered)


def _read_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for line in reader:
                if line:
                    yield reader.line_num, line
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing: data_dir needs all six tables") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not valid UTF-8") from error
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from error
