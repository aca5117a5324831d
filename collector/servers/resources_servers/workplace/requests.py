"""What tasks are made of: kinds of requests, and values drawn for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.company import NOW, TRADES, address_of
from collector.servers.resources_servers.workplace.state import Person, State

MONTHS = {3: "March", 4: "April"}
NEW_COMPANY_WORDS = ("Juniperside", "Kestrelgate", "Lanternhill", "Meadowlark", "Northwick")
SUBJECTS = (
    "Update", "Quick question", "Schedule change", "Thank you", "Request for feedback",
    "Monthly figures", "Room booking", "Short notice", "Welcome", "Reminder",
)  # fmt: skip
BODIES = (
    "The numbers are ready for you to look at.",
    "Could you send me the latest version, please?",
    "We start one hour later than planned.",
    "Thanks for your help this week!",
    "Please have a look by Friday and tell me what you think.",
    "I have booked the small room for us.",
    "Let us talk about this tomorrow: it can wait until then.",
    "That works for me.",
    "I will be away on Monday, so please go ahead without me.",
    "Everything is set; there is nothing left to do.",
)
MEETING_TITLES = (
    "Weekly catch-up", "Budget talk", "Kick-off", "Interview debrief", "Contract questions",
    "Roadmap walk-through", "Lessons learned", "Release check", "Coffee chat", "Onboarding",
)  # fmt: skip
TASK_TITLES = (
    "Draft the price sheet", "Prepare the demo account", "Update the contact list",
    "Fix the broken links", "Plan the survey", "Record the tutorial", "Order new badges",
    "Sort the old tickets", "Test the mobile view", "Collect the feedback",
)  # fmt: skip


@dataclass(frozen=True)
class Slot:
    """A value, and how the request puts it."""

    text: str
    value: Any


Slots = dict[str, Slot]


@dataclass(frozen=True)
class Kind:
    """A kind of request; `calls` tells what it asks for, nothing if these slots make no sense."""

    category: str
    phrasings: Sequence[str]
    lookups: int
    draw: Callable[[Draw], Slots]
    calls: Callable[[State, Slots], list[Call]]


class Draw:
    """Values drawn from a company for a request."""

    def __init__(self, rng: Random, state: State) -> None:
        """Draw with this generator; the same one gives the same values."""
        self._rng = rng
        self.state = state

    def one(self, values: Sequence[Any]) -> Slot:
        """Draw a value that is put as it is."""
        value = self._rng.choice(values)
        return Slot(str(value), value)

    def two(self, values: Sequence[str]) -> tuple[Slot, Slot]:
        """Draw two different values."""
        first, second = self._rng.sample(list(values), 2)
        return Slot(first, first), Slot(second, second)

    def person(self, people: Sequence[Person]) -> Slot:
        """Draw a person, put as full or first name."""
        return self._named(self._rng.choice(people))

    def two_people(self, people: Sequence[Person]) -> tuple[Slot, Slot]:
        """Draw two different people."""
        first, second = self._rng.sample(list(people), 2)
        return self._named(first), self._named(second)

    def field(self, records: Sequence[Any], name: str) -> Slot:
        """Draw a record and return one of its fields."""
        return self.one([getattr(record, name) for record in records])

    def day(self) -> Slots:
        """Draw a day to come."""
        return self._day((NOW + timedelta(days=self._rng.randrange(1, 28))).date())

    def day_of(self, days: Sequence[str]) -> Slots:
        """Draw one of these days."""
        return self._day(date.fromisoformat(self._rng.choice(days)))

    def clock(self) -> Slot:
        """Draw a time of day."""
        return self.one(
            [f"{hour:02d}:{minute}" for hour in range(8, 18) for minute in ("00", "30")]
        )

    def minutes(self) -> Slot:
        """Draw a duration."""
        return self.one([15, 20, 25, 40, 50, 75, 90])

    def new_company(self) -> Slots:
        """Draw a customer that nobody knows yet."""
        name = f"{self._rng.choice(NEW_COMPANY_WORDS)} {self._rng.choice(TRADES)}"
        return {"company": Slot(name, name), "address": Slot(address_of(name), address_of(name))}

    def message(self) -> Slots:
        """Draw a subject and a body."""
        return {"subject": self.one(SUBJECTS), "body": self.one(BODIES)}

    def _named(self, person: Person) -> Slot:
        return Slot(self._rng.choice((person.name, person.name.split()[0])), person.email)

    def _day(self, day: date) -> Slots:
        """Put a day twice: `date` as it stands behind "to", `when` as it stands behind a verb."""
        iso = day.isoformat()
        if day == (NOW + timedelta(days=1)).date():
            return {"date": Slot("tomorrow", iso), "when": Slot("tomorrow", iso)}
        text = self._rng.choice((iso, f"{day.day} {MONTHS[day.month]}"))
        return {"date": Slot(text, iso), "when": Slot(f"on {text}", iso)}


def status_text(status: str) -> str:
    """Put a status in words."""
    return status.replace("_", " ")
