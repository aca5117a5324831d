"""What the tools on records have in common: getting, updating, deleting and paging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace_assistant.tables import Record, State, Table

PAGE_SIZE = 5
NUMBERS = ("page?", "page_size?")
OWNERS = (
    *("company_directory", "email", "calendar", "analytics"),
    *("project_management", "customer_relationship_manager"),
)
Check = Callable[[State, Any], str | None]
Function = Callable[..., Any]


class RefusedError(Exception):
    """What a tool says instead of doing what it was asked."""


class Refusal(str):
    """The answer of a tool that did nothing."""

    __slots__ = ()


def tool(name: str, definition: Mapping[str, Any], function: Function) -> Tool[State]:
    """Offer a function as a tool of `tools.yaml`; its refusals are answers like any other."""
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

    def call(state: State, arguments: dict[str, Any]) -> Any:
        for key in arguments:
            if key not in properties:
                problem = f"{_method(name)}() got an unexpected keyword argument '{key}'"
                return Refusal(f"Error executing tool '{name}': {problem}")
        try:
            return function(state, **arguments)
        except RefusedError as refusal:
            return Refusal(refusal)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            # arguments are a model's words, and tables anybody's: neither must end a rollout
            return Refusal(f"Error executing tool '{name}': {error}")

    return Tool(name, definition["description"], schema, call)


def _method(name: str) -> str:
    """Return what NeMo Gym calls the method behind a tool, which its answers show."""
    owner = next(one for one in OWNERS if name.startswith(f"{one}_"))
    return f"{owner.title().replace('_', '')}Tool.{name.removeprefix(owner + '_')}"


def text_of(name: str, value: Any) -> str:
    """Return a text, or refuse any other value."""
    refuse_unless(isinstance(value, str), f"{name} must be a text.")
    return str(value)


def refuse_unless(condition: object, sentence: str) -> None:
    """Go on, or answer with a sentence."""
    if not condition:
        raise RefusedError(sentence)


def one_of(choices: tuple[str, ...], problem: str) -> Check:
    """Return a check that a value is one of several."""
    return lambda _, value: None if value in choices else problem


def contains(value: Any, wanted: Any) -> bool:
    """Tell whether a text contains another, in upper or lower case; nothing is wanted of None."""
    return wanted is None or str(wanted).lower() in str(value or "").lower()


def has_words(query: Any, *texts: Any) -> bool:
    """Tell whether every word of a query is in one of the texts."""
    lowered = [str(text or "").lower() for text in texts]
    return all(any(word in text for text in lowered) for word in str(query or "").lower().split())


def page_of(name: str, found: list[Record], page: Any, page_size: Any) -> Any:
    """Return one page of what was found; the nearest to one that is not there."""
    refuse_unless(found, f"No {name} found.")
    for key, value in (("page", page), ("page_size", page_size)):
        refuse_unless(type(value) is int, f"{key} must be a whole number.")
    size = max(page_size, 1)
    page_count = -(-len(found) // size)
    number = min(max(page, 1), page_count)
    return {
        name: found[(number - 1) * size : number * size],
        "pagination": {
            f"total_{name}": len(found),
            "page": number,
            "page_size": size,
            "total_pages": page_count,
        },
    }


@dataclass(frozen=True)
class Records:
    """A table of records with ids, and what its tools say about them."""

    table: str
    noun: str
    id_name: str
    unknown_field: str = ""
    """What is said of a field that a record does not have; may show `{field}`."""
    fields: tuple[str, ...] = ()
    """What can be updated."""
    no_update: str = ""
    """What is said of any other field."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """What is wrong with a new value of a field."""
    id_check: Check = lambda _state, _id: None
    checks_field_first: bool = False
    """Whether a wrong field is told before a record that is not there."""

    def of(self, state: State) -> Table:
        """Return the table of a session."""
        return state.tables[self.table]

    def find(self, state: State, record_id: Any) -> Record:
        """Return a record, or refuse."""
        self.check(self.id_check(state, record_id))
        found = self.of(state).find(record_id)
        if found is None:
            raise RefusedError(f"{self.noun} not found.")
        return found

    def get(self, state: State, field: Any = None, **given: Any) -> Any:
        """Return one field of a record."""
        refuse_unless(given.get(self.id_name), f"{self.noun} ID not provided.")
        refuse_unless(field, "Field not provided.")
        self.check(self.id_check(state, given[self.id_name]))
        is_known = field in self.of(state).columns
        refuse_unless(is_known or not self.checks_field_first, self.field_problem(field))
        record = self.find(state, given[self.id_name])
        refuse_unless(is_known, self.field_problem(field))
        return {field: record[field]}

    def field_problem(self, field: Any) -> str:
        """Say that records do not have a field."""
        return self.unknown_field.format(field=field)

    def create(self, state: State, values: Mapping[str, Any]) -> str:
        """Add a record, and return its id."""
        return self.of(state).create(self.of(state).next_id(), values)

    def delete(self, state: State, **given: Any) -> Any:
        """Delete a record."""
        refuse_unless(given.get(self.id_name), f"{self.noun} ID not provided.")
        self.find(state, given[self.id_name])
        self.of(state).delete(given[self.id_name])
        return f"{self.noun} deleted successfully."

    def update(self, state: State, field: Any = None, new_value: Any = None, **given: Any) -> Any:
        """Change one field of a record."""
        record_id: Any = given.get(self.id_name)
        refuse_unless(
            record_id and field and new_value, f"{self.noun} ID, field, or new value not provided."
        )
        self.check(self.id_check(state, record_id))
        is_known = field in self.fields
        refuse_unless(is_known or not self.checks_field_first, self.no_update)
        if is_known and field in self.checks:
            self.check(self.checks[field](state, new_value))
        self.find(state, record_id)
        refuse_unless(is_known, self.no_update)
        # an amount may be a number
        value = new_value if field == "duration" else text_of("new_value", new_value)
        is_address = field.endswith("_email")
        self.of(state).update(record_id, field, value.lower() if is_address else value)
        return f"{self.noun} updated successfully."

    @staticmethod
    def check(problem: str | None) -> None:
        """Refuse if something is wrong."""
        refuse_unless(problem is None, problem or "")
