"""The records of a company, and what has changed in them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

from collector.servers.resources_servers.environment import ToolError

Board = Literal["Backend", "Frontend", "Design", "Operations"]
TaskStatus = Literal["backlog", "in_progress", "in_review", "completed"]
CustomerStatus = Literal["lead", "qualified", "proposal", "won", "lost"]
Product = Literal["Basic", "Team", "Enterprise"]
BOARDS: tuple[str, ...] = get_args(Board)
TASK_STATUSES: tuple[str, ...] = get_args(TaskStatus)
CUSTOMER_STATUSES: tuple[str, ...] = get_args(CustomerStatus)
PRODUCTS: tuple[str, ...] = get_args(Product)

Change = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """Someone in the directory."""

    name: str
    email: str
    role: str


@dataclass(frozen=True, slots=True)
class Record:
    """Anything that has an id; a new record gets its id from the table."""

    id: str


@dataclass(frozen=True, slots=True)
class Email(Record):
    """An email in the mailbox."""

    folder: str
    sender: str
    recipient: str
    subject: str
    body: str
    sent_at: str


@dataclass(frozen=True, slots=True)
class Event(Record):
    """A meeting in the calendar."""

    title: str
    participant: str
    start: str
    duration_minutes: int


@dataclass(frozen=True, slots=True)
class Task(Record):
    """A task on a project board."""

    title: str
    assignee: str
    board: str
    status: str
    due_date: str


@dataclass(frozen=True, slots=True)
class Customer(Record):
    """A company that buys, or might."""

    name: str
    email: str
    owner: str
    status: str
    product: str


R = TypeVar("R", bound=Record)


@dataclass
class Table(Generic[R]):
    """Records by id; they are immutable, so that a copy is cheap."""

    noun: str
    prefix: str
    rows: dict[str, R]
    last_number: int = 0

    def copy(self) -> Table[R]:
        """Return a table that changes independently."""
        return dataclasses.replace(self, rows=dict(self.rows))

    def get(self, record_id: str) -> R:
        """Return a record, or tell the model that there is none."""
        try:
            return self.rows[record_id]
        except KeyError:
            raise ToolError(f"there is no {self.noun} with the id {record_id[:100]}") from None

    def add(self, record: R) -> R:
        """Keep a record under a new id."""
        self.last_number += 1
        added = dataclasses.replace(record, id=f"{self.prefix}-{self.last_number:04d}")
        self.rows[added.id] = added
        return added

    def update(self, record_id: str, changes: dict[str, Any]) -> R:
        """Replace the fields that are not None."""
        found = self.get(record_id)
        given = {name: value for name, value in changes.items() if value is not None}
        if not given:
            raise ToolError("nothing to change: give at least one field a value")
        self.rows[record_id] = dataclasses.replace(found, **given)
        return self.rows[record_id]

    def remove(self, record_id: str) -> R:
        """Delete a record and return it."""
        found = self.get(record_id)
        del self.rows[record_id]
        return found


@dataclass
class State:
    """Everything that tools can change."""

    emails: Table[Email]
    events: Table[Event]
    tasks: Table[Task]
    customers: Table[Customer]

    def copy(self) -> State:
        """Return a state that changes independently."""
        return State(
            self.emails.copy(), self.events.copy(), self.tasks.copy(), self.customers.copy()
        )

    def tables(self) -> tuple[Table[Any], ...]:
        """Return the tables in a fixed order."""
        return (self.emails, self.events, self.tasks, self.customers)


def changes(before: State, after: State) -> Counter[Change]:
    """Count what is different; new records are compared without their ids."""
    found: Counter[Change] = Counter()
    for old, new in zip(before.tables(), after.tables(), strict=True):
        found.update(_table_changes(old, new))
    # what was sent cannot be taken back by deleting it
    made = after.emails.last_number - before.emails.last_number
    unsent = made - len(after.emails.rows.keys() - before.emails.rows.keys())
    if unsent:
        found[(before.emails.noun, "sent and deleted")] += unsent
    return found


def _table_changes(old: Table[Any], new: Table[Any]) -> list[Change]:
    removed = [(old.noun, "removed", record_id) for record_id in old.rows.keys() - new.rows.keys()]
    kept = [record_id for record_id in new.rows if record_id in old.rows]
    changed = [
        (old.noun, "changed", record_id, *_content(new.rows[record_id]))
        for record_id in kept
        if _content(new.rows[record_id]) != _content(old.rows[record_id])
    ]
    added = [
        (old.noun, "added", *_content(record))
        for record_id, record in new.rows.items()
        if record_id not in old.rows
    ]
    return removed + changed + added


def _content(record: Record) -> Change:
    """Return the fields without the id; outer blanks do not count."""
    values = dataclasses.astuple(record)[1:]
    return tuple(value.strip() if isinstance(value, str) else value for value in values)
