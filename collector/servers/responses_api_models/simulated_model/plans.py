"""How a request is worked: look people up, search once, then act on each record found."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from collector.servers.responses_api_models.simulated_model.conversation import Call, Row
from collector.servers.responses_api_models.simulated_model.phrases import Slots

Plan = Generator[Call, Any, None]
Records = list[Row]


class StuckError(Exception):
    """A plan that cannot go on; the text is for the user."""


def _all(records: Records, _: Slots) -> Records:
    return records


@dataclass(frozen=True)
class Recipe:
    """The steps of a kind of request; without a search there is one thing to do."""

    act: Callable[[Row, Slots], Call]
    people: tuple[str, ...] = ()
    search: Callable[[Slots], Call] | None = None
    pick: Callable[[Records, Slots], Records] = _all

    def plan(self, slots: Slots) -> Plan:
        """Yield one call after the other; each answer comes back before the next."""
        known = dict(slots)
        for name in self.people:
            known[name] = _address(
                slots[name], (yield Call("directory_find", {"name": known[name]}))
            )
        records: Records = [{}]
        if self.search:
            records = self.pick(_records((yield self.search(known))), known)
        if not records:
            raise StuckError("I found nothing that fits")
        for record in records:
            yield self.act(record, known)


def titled(field: str, slot: str) -> Callable[[Records, Slots], Records]:
    """Pick the record that is called exactly as the request says."""
    return lambda records, slots: [
        record for record in records if record.get(field) == slots[slot]
    ][:1]


def first_by(field: str) -> Callable[[Records, Slots], Records]:
    """Pick the record whose field is smallest."""
    return lambda records, _: sorted(records, key=lambda record: str(record.get(field)))[:1]


def last_by(field: str) -> Callable[[Records, Slots], Records]:
    """Pick the record whose field is largest."""
    return lambda records, _: sorted(records, key=lambda record: str(record.get(field)))[-1:]


def searching(tool: str, **slot_of: str) -> Callable[[Slots], Call]:
    """Search with arguments from slots; slots that the request lacks are left out."""
    return lambda slots: Call(
        tool, {name: slots[slot] for name, slot in slot_of.items() if slots.get(slot)}
    )


def acting(tool: str, id_name: str, **slot_of: str) -> Callable[[Row, Slots], Call]:
    """Act on a record with arguments from slots."""
    return lambda record, slots: Call(
        tool, {id_name: record["id"], **{name: slots[slot] for name, slot in slot_of.items()}}
    )


def _records(output: Any) -> Records:
    """Return the list in a search's answer."""
    values: Iterator[Any] = iter(output.values()) if isinstance(output, dict) else iter(())
    found = next((value for value in values if isinstance(value, list)), [])
    return [record for record in found if isinstance(record, dict) and "id" in record]


def _address(name: str, output: Any) -> str:
    people = output.get("people") if isinstance(output, dict) else None
    known = people if isinstance(people, list) else []
    for person in (person for person in known if isinstance(person, dict)):
        full = str(person.get("name"))
        if name in (full, full.partition(" ")[0]):
            return str(person.get("email"))
    raise StuckError(f"I found nobody called {name} in the directory")
