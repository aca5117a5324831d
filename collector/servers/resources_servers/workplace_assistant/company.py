"""Generate the tables of the company that comes with Spotter, always the same ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from random import Random
from typing import Any

from collector.servers.resources_servers.workplace_assistant.analytics import SOURCES
from collector.servers.resources_servers.workplace_assistant.customers import PRODUCTS, STATUSES
from collector.servers.resources_servers.workplace_assistant.emails import NOW
from collector.servers.resources_servers.workplace_assistant.project_tasks import BOARDS, LISTS
from collector.servers.resources_servers.workplace_assistant.tables import ADDRESSES, COLUMNS

TODAY = datetime.fromisoformat(NOW)
NAMES = (
    "Nora Quill", "Jin Park", "Carlos Vega", "Aisha Bello", "Tomas Novak", "Priya Nair",
    "Lena Fischer", "Ravi Menon", "Sofia Russo", "Marcus Hale", "Yuki Mori", "Dana Cole",
    "Omar Haddad", "Ingrid Solberg", "Felix Braun", "Grace Okoye", "Hugo Martin", "Mei Tanaka",
    "Paul Weaver", "Zara Khan",
)  # fmt: skip
TOPICS = (
    "Harbour launch", "travel budget", "autumn fair", "office move", "login page",
    "supplier contract", "team offsite", "hiring plan", "price list", "data export",
    "security training", "customer survey", "print catalogue", "support rota", "press release",
    "backup test", "parking spaces", "expense rules", "new intranet", "photo archive",
)  # fmt: skip
EMAILS = (
    ("Notes on the {}", "Here are my notes on the {}. Please read them before we talk."),
    ("Question about the {}", "I have a question about the {}: who decides, and by when?"),
    ("The {}: next steps", "These are the next steps for the {}. Tell me if one is missing."),
)
EVENTS = ("Review of the {}", "Planning for the {}", "Demo of the {}")
VERBS = ("Write", "Check", "Rework", "Translate", "Test", "Retire")
THINGS = (
    "the welcome guide", "the invoice template", "the search filters", "the colour palette",
    "the error messages", "the release notes", "the sign-up form", "the help centre",
    "the status report", "the upload dialog",
)  # fmt: skip
FIRMS = ("bluefern", "copperleaf", "driftwood", "emberline", "foxglove", "graniteway", "hollowell")
FIRST = ("Alba", "Bruno", "Clara", "Dario", "Elif", "Finn", "Gita", "Henk", "Ines", "Jonas")
LAST = ("Abend", "Brook", "Costa", "Duval", "Engel", "Flores", "Gruber", "Hansen", "Ito", "Jansen")
NOTES = ("Had a call.", "Met at a fair.", "Saw the demo.", "Asked for a price.", "On holiday.")


def email_address(name: str) -> str:
    """Return the email address of a person."""
    return f"{name.lower().replace(' ', '.')}@example.com"


PEOPLE = tuple(email_address(name) for name in NAMES)
WORKERS = PEOPLE[1:9]
SELLERS = PEOPLE[9:14]


def table_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the CSV content of every table."""
    rng = Random(2023)  # noqa: S311
    row_functions = dict(zip(COLUMNS, (_emails, _events, _visits, _tasks, _customers), strict=True))
    for name, rows in row_functions.items():
        yield name, _csv([COLUMNS[name], *rows(rng)])
    yield ADDRESSES, _csv([[address] for address in PEOPLE])


def _csv(rows: list[Any]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().encode()


def _ids(rng: Random, count: int) -> list[str]:
    numbers = list(range(count))
    rng.shuffle(numbers)
    return [f"{number:08d}" for number in numbers]


def _days(rng: Random, count: int, first: int, last: int) -> list[datetime]:
    """Return random working days, in order; `first` and `last` count days from today."""
    days = [TODAY.replace(hour=0, minute=0) + timedelta(days=n) for n in range(first, last)]
    return sorted(rng.choices([day for day in days if day.weekday() < 5], k=count))


def _emails(rng: Random) -> Iterator[Any]:
    days = _days(rng, 300, -60, 0)
    times = sorted({day + timedelta(seconds=rng.randrange(9 * 3600, 17 * 3600)) for day in days})
    for email_id, sent in zip(_ids(rng, len(times)), times, strict=True):
        (subject, body), topic = rng.choice(EMAILS), rng.choice(TOPICS)
        sender = rng.choice(PEOPLE[1:])
        text = f"Hello,\\n\\n{body.format(topic)}\\n\\n{sender.split('.')[0].title()}"
        yield email_id, "inbox", sender, subject.format(topic), str(sent), text


def _events(rng: Random) -> Iterator[Any]:
    days = _days(rng, 120, -60, 21)
    slots = sorted({day + timedelta(minutes=30 * rng.randrange(18, 33)) for day in days})
    for event_id, start in zip(_ids(rng, len(slots)), slots, strict=True):
        name = rng.choice(EVENTS).format(rng.choice(TOPICS))
        yield event_id, name, rng.choice(PEOPLE[1:]), str(start), rng.choice((30, 60, 90))


def _visits(rng: Random) -> Iterator[Any]:
    for _ in range(600):
        day = TODAY - timedelta(days=rng.randrange(60))
        views, seconds = 1 + int(rng.expovariate(0.25)), int(rng.expovariate(0.05))
        source = rng.choices(SOURCES, (5, 1, 2, 3))[0]
        visitor = f"{rng.randrange(10_000):04d}"
        yield f"{day:%Y-%m-%d}", visitor, views, seconds, source, rng.random() < 0.4


def _tasks(rng: Random) -> Iterator[Any]:
    names = [f"{verb} {thing}" for verb, thing in product(VERBS, THINGS)] * 3
    rng.shuffle(names)
    for task_id, name in zip(_ids(rng, len(names)), names, strict=True):
        due = TODAY + timedelta(days=rng.randrange(-7, 21))
        details = rng.choices(LISTS, (5, 2, 2, 2))[0], f"{due:%Y-%m-%d}", rng.choice(BOARDS)
        yield task_id, name, rng.choice(WORKERS), *details


def _customers(rng: Random) -> Iterator[Any]:
    names = [f"{first} {last}" for first, last in product(FIRST, LAST)]
    rng.shuffle(names)
    for customer_id, name in zip(_ids(rng, len(names)), names, strict=True):
        last = TODAY - timedelta(days=rng.randrange(60))
        phone = f"555-01{rng.randrange(100):02d}" if rng.random() < 0.5 else ""
        notes = f"{last:%Y-%m-%d}: {rng.choice(NOTES)}" if rng.random() < 0.7 else ""
        email = f"{name.lower().replace(' ', '.')}@{rng.choice(FIRMS)}.example"
        interest = rng.choice(PRODUCTS), rng.choice(STATUSES)
        follow_up = last + timedelta(days=rng.randrange(7, 40))
        yield (
            customer_id,
            rng.choice(SELLERS),
            name,
            email,
            phone,
            last,
            *interest,
            follow_up,
            notes,
        )
