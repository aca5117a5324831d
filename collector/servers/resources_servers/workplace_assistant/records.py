"""The common part of all tools on records: checks, search, pages, get, update and delete."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace_assistant.tables import (
    Record,
    RecordTable,
    WorkplaceState,
)

PAGE_SIZE = 5
NUMBERS = ("page?", "page_size?")
# the first part of a tool's name
TOOLKITS = (
    *("company_directory", "email", "calendar", "analytics"),
    *("project_management", "customer_relationship_manager"),
)
# the formats of people and models, in addition to ISO 8601
TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d")
Check = Callable[[WorkplaceState, Any], str | None]
Function = Callable[..., Any]


class CallRefusedError(Exception):
    """A tool refuses a call; the message is its answer."""


class CallRefusal(str):
    """The answer of a tool that refused a call and changed nothing."""

    __slots__ = ()


def make_tool(name: str, definition: Mapping[str, Any], function: Function) -> Tool[WorkplaceState]:
    """Return a tool with a definition of `tools.yaml`; it returns refusals as ordinary answers."""
    properties = {
        key.rstrip("?"): {"type": "integer" if key in NUMBERS else "string", "description": text}
        for key, text in definition["parameters"].items()
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key in definition["parameters"] if key in properties],
        "additionalProperties": False,
    }

    def call(state: WorkplaceState, arguments: dict[str, Any]) -> Any:
        for key in arguments:
            if key not in properties:
                problem = f"{_method(name)}() got an unexpected keyword argument '{key}'"
                return CallRefusal(f"Error executing tool '{name}': {problem}")
        try:
            return function(state, **arguments)
        except CallRefusedError as refusal:
            return CallRefusal(refusal)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            # neither a model's arguments nor the values of a user's table may end a rollout
            return CallRefusal(f"Error executing tool '{name}': {error}")

    return Tool(name, definition["description"], schema, call)


def _method(name: str) -> str:
    """Return NeMo Gym's name for the method of a tool, which its answers show."""
    toolkit = next(one for one in TOOLKITS if name.startswith(f"{one}_"))
    return f"{toolkit.title().replace('_', '')}Tool.{name.removeprefix(toolkit + '_')}"


def require_text(name: str, value: Any) -> str:
    """Return the value if it is text; refuse any other value."""
    refuse_unless(isinstance(value, str), f"{name} must be a text.")
    return str(value)


def refuse_unless(condition: object, sentence: str) -> None:
    """Refuse the call with a sentence unless the condition is true."""
    if not condition:
        raise CallRefusedError(sentence)


def refuse_if(problem: str | None) -> None:
    """Refuse the call if there is a problem."""
    if problem is not None:
        raise CallRefusedError(problem)


def choice_check(choices: tuple[str, ...], problem: str) -> Check:
    """Return a check that refuses any value but the choices."""
    return lambda _, value: None if value in choices else problem


def parse_time(value: Any) -> datetime:
    """Return a time, or a day at midnight; raise ValueError for any other text."""
    text = str(value).strip()
    for form in TIMES:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form)
    return datetime.fromisoformat(text).replace(tzinfo=None)


def lower_addresses(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with all email addresses in lower case; refuse one that is not text."""
    return {
        name: require_text(name, value).lower() if value and name.endswith("_email") else value
        for name, value in values.items()
    }


def quote_names(names: tuple[str, ...]) -> str:
    """Return the names in single quotes, separated by commas."""
    return ", ".join(f"'{name}'" for name in names)


class TextFilter:
    """Finds a text in values, ignoring case; a filter for None accepts every value.

    The text of a model may be very long, so it is prepared once, not for each record.
    """

    def __init__(self, wanted: Any) -> None:
        """Prepare the text to find."""
        self._wanted = None if wanted is None else str(wanted).lower()

    def accepts(self, value: Any) -> bool:
        """Tell whether a value contains the text."""
        return self._wanted is None or self._wanted in str(value or "").lower()


class WordFilter:
    """Finds the words of a query in several texts, ignoring case and order."""

    def __init__(self, query: Any) -> None:
        """Prepare the words to find."""
        self._words = dict.fromkeys(str(query or "").lower().split())

    def accepts(self, *texts: Any) -> bool:
        """Tell whether each word occurs in one of the texts."""
        lowered = [str(text or "").lower() for text in texts]
        return all(any(word in text for text in lowered) for word in self._words)


def paginate(name: str, records: list[Record], page: Any, page_size: Any) -> Any:
    """Return one page of records; for a page that does not exist, the nearest one."""
    refuse_unless(records, f"No {name} found.")
    for key, value in (("page", page), ("page_size", page_size)):
        refuse_unless(type(value) is int, f"{key} must be a whole number.")
    size = max(page_size, 1)
    page_count = -(-len(records) // size)
    number = min(max(page, 1), page_count)
    return {
        name: records[(number - 1) * size : number * size],
        "pagination": {
            f"total_{name}": len(records),
            "page": number,
            "page_size": size,
            "total_pages": page_count,
        },
    }


@dataclass(frozen=True)
class RecordTools:
    """The tools that every table of records has, and their answers."""

    table_name: str
    noun: str
    id_name: str
    unknown_field: str = ""
    """The refusal of a field that records do not have; may contain `{field}`."""
    fields: tuple[str, ...] = ()
    """The fields that can be updated."""
    no_update: str = ""
    """The refusal of an update of any other field."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """The checks of new values, by field."""
    id_check: Check = lambda _state, _id: None
    checks_field_first: bool = False
    """Whether a wrong field is refused before a missing record."""

    def table(self, state: WorkplaceState) -> RecordTable:
        """Return the table in a session's state."""
        return state.tables[self.table_name]

    def find(self, state: WorkplaceState, record_id: Any) -> Record:
        """Return a record; refuse the call if it does not exist."""
        refuse_if(self.id_check(state, record_id))
        record = self.table(state).find(record_id)
        if record is None:
            raise CallRefusedError(f"{self.noun} not found.")
        return record

    def get(self, state: WorkplaceState, field: Any = None, **given: Any) -> Any:
        """Return one field of a record, as the tool answers."""
        refuse_unless(given.get(self.id_name), f"{self.noun} ID not provided.")
        refuse_unless(field, "Field not provided.")
        refuse_if(self.id_check(state, given[self.id_name]))
        is_known = field in self.table(state).columns
        refuse_unless(is_known or not self.checks_field_first, self.field_problem(field))
        record = self.find(state, given[self.id_name])
        refuse_unless(is_known, self.field_problem(field))
        return {field: record[field]}

    def field_problem(self, field: Any) -> str:
        """Return the refusal of a field that records do not have."""
        return self.unknown_field.format(field=field)

    def create(self, state: WorkplaceState, values: Mapping[str, Any]) -> str:
        """Add a record, and return its id."""
        return self.table(state).create(self.table(state).next_id(), values)

    def delete(self, state: WorkplaceState, **given: Any) -> Any:
        """Delete a record, and return the tool's answer."""
        refuse_unless(given.get(self.id_name), f"{self.noun} ID not provided.")
        self.find(state, given[self.id_name])
        self.table(state).delete(given[self.id_name])
        return f"{self.noun} deleted successfully."

    def update(
        self, state: WorkplaceState, field: Any = None, new_value: Any = None, **given: Any
    ) -> Any:
        """Change one field of a record, and return the tool's answer."""
        record_id: Any = given.get(self.id_name)
        refuse_unless(
            record_id and field and new_value, f"{self.noun} ID, field, or new value not provided."
        )
        refuse_if(self.id_check(state, record_id))
        is_known = field in self.fields
        refuse_unless(is_known or not self.checks_field_first, self.no_update)
        if is_known and field in self.checks:
            refuse_if(self.checks[field](state, new_value))
        self.find(state, record_id)
        refuse_unless(is_known, self.no_update)
        # a duration may be a number
        value = new_value if field == "duration" else require_text("new_value", new_value)
        is_address = field.endswith("_email")
        self.table(state).update(record_id, field, value.lower() if is_address else value)
        return f"{self.noun} updated successfully."
