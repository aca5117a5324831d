"""The company's tables: rows of texts that a session changes for itself alone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
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
# the values of these are names of states: their spelling counts, also in the verdict
EXACT_COLUMNS = ("status", "list_name", "board")


@dataclass
class Table:
    """Records in an order that counts, the first column their id.

    NeMo Gym keeps them in data frames, whose row numbers count in the verdict too: deleting a
    record leaves a gap, and creating one numbers the rows anew (except those of the calendar).
    """

    columns: tuple[str, ...]
    records: list[Record]
    numbers: list[int]
    is_renumbered: bool = True

    def copy(self) -> Table:
        """Return a table of its own with the same records, which are never changed in place."""
        return Table(self.columns, list(self.records), list(self.numbers), self.is_renumbered)

    def find(self, record_id: str) -> Record | None:
        """Return the record with an id."""
        place = self._place(record_id)
        return None if place is None else self.records[place]

    def where(self, is_wanted: Callable[[Record], bool]) -> list[Record]:
        """Return the records that a condition holds for."""
        return [record for record in self.records if is_wanted(record)]

    def next_id(self) -> str:
        """Return one more than the largest id; raise ValueError if that is not a number."""
        largest = max((str(record[self.columns[0]]) for record in self.records), default="-1")
        return str(int(largest) + 1).zfill(ID_WIDTH)

    def create(self, record_id: str, values: Mapping[str, Any]) -> str:
        """Append a record, and return its id."""
        record = {name: values.get(name) for name in self.columns}
        self.records.append({**record, self.columns[0]: record_id})
        is_renumbered = self.is_renumbered
        self.numbers = list(range(len(self.records))) if is_renumbered else [*self.numbers, 0]
        return record_id

    def update(self, record_id: str, column: str, value: Any) -> bool:
        """Change one value, and tell whether there is such a record."""
        place = self._place(record_id)
        if place is not None:
            self.records[place] = {**self.records[place], column: value}
        return place is not None

    def delete(self, record_id: str) -> bool:
        """Delete a record, and tell whether there was one."""
        place = self._place(record_id)
        if place is not None:
            del self.records[place], self.numbers[place]
        return place is not None

    def content(self) -> list[tuple[Any, ...]]:
        """Return what counts in the verdict: everything in order, most of it whatever its case."""
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

    def _place(self, record_id: str) -> int | None:
        key = self.columns[0]
        places = (place for place, record in enumerate(self.records) if record[key] == record_id)
        return next(places, None)


@dataclass(frozen=True)
class Company:
    """All tables as a task begins with them, and the addresses of everyone."""

    tables: Mapping[str, Table]
    addresses: tuple[str, ...]

    def state(self) -> State:
        """Return tables for one session."""
        return State(
            {name: table.copy() for name, table in self.tables.items()},
            self.addresses,
        )


@dataclass
class State:
    """The tables of one session, and the plots it made."""

    tables: dict[str, Table]
    addresses: tuple[str, ...]
    plots: list[str] = field(default_factory=list)

    @property
    def team(self) -> set[str]:
        """Return who has tasks: only they can be given one."""
        return {record["assigned_to_email"] for record in self.tables["project_tasks"].records}

    def content(self) -> list[Any]:
        """Return what two sessions are compared by."""
        changing = (name for name in self.tables if name != "analytics_data")
        return [self.plots, *(self.tables[name].content() for name in changing)]


def load_company(folder: Path) -> Company:
    """Read the six tables of a folder; NeMo Gym has the addresses in another one beside it."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: data_dir names the folder of the six tables")
    tables = {name: _table(folder / f"{name}.csv", columns) for name, columns in COLUMNS.items()}
    places = [folder / f"{ADDRESSES}.csv", folder.parent / "raw" / f"{ADDRESSES}.csv"]
    path = next(filter(Path.is_file, places), places[0])
    return Company(tables, tuple(line[0] for _, line in _lines(path) if "@" in line[0]))


def _table(path: Path, columns: tuple[str, ...]) -> Table:
    lines = list(_lines(path))
    if not lines or tuple(lines[0][1]) != columns:
        raise ValueError(f"{path}: the first line must be {','.join(columns)}")
    records = []
    for number, line in lines[1:]:
        if len(line) != len(columns):
            raise ValueError(f"{path}:{number}: {len(line)} values, expected {len(columns)}")
        records.append({name: value or None for name, value in zip(columns, line, strict=True)})
    is_renumbered = path.stem != "calendar_events"
    return Table(columns, records, list(range(len(records))), is_renumbered)


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for line in reader:
                if line:
                    yield reader.line_num, line
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing: data_dir needs all six tables") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8") from error
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from error
