"""The company that every session begins with: invented, and always the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from random import Random

from collector.servers.resources_servers.workplace.state import (
    BOARDS,
    CUSTOMER_STATUSES,
    PRODUCTS,
    TASK_STATUSES,
    Customer,
    Email,
    Event,
    Person,
    State,
    Table,
    Task,
)

NOW = datetime(2026, 3, 12, 8, 0)  # the company's own clock: it has one place
ROLES = {
    "Nora Quill": "Head of operations",
    "Jin Park": "Engineer",
    "Carlos Vega": "Engineer",
    "Aisha Bello": "Engineer",
    "Tomas Novak": "Designer",
    "Priya Nair": "Designer",
    "Lena Fischer": "Engineer",
    "Ravi Menon": "Account manager",
    "Sofia Russo": "Account manager",
    "Marcus Hale": "Account manager",
    "Yuki Mori": "Account manager",
    "Dana Cole": "Head of sales",
    "Omar Haddad": "Accountant",
    "Ingrid Solberg": "Lawyer",
    "Felix Braun": "Recruiter",
    "Grace Okoye": "Office manager",
    "Hugo Martin": "Support lead",
    "Mei Tanaka": "Data analyst",
    "Paul Weaver": "Head of engineering",
    "Zara Khan": "Marketing manager",
}
TOPICS = (
    "Harbour launch", "travel budget", "autumn fair", "office move", "login page",
    "supplier contract", "team offsite", "hiring plan", "price list", "data export",
    "security training", "customer survey", "print catalogue", "support rota", "press release",
    "backup test", "parking spaces", "expense rules", "new intranet", "photo archive",
)  # fmt: skip
EMAIL_FORMS = (
    ("Notes on the {}", "Here are my notes on the {}. Please read them before we talk."),
    ("Question about the {}", "I have a question about the {}: who decides, and by when?"),
    ("The {}: next steps", "These are the next steps for the {}. Tell me if one is missing."),
)
EVENT_FORMS = ("Review of the {}", "Planning for the {}")
TASK_VERBS = ("Write", "Check", "Rework", "Translate")
TASK_OBJECTS = (
    "the welcome guide", "the invoice template", "the search filters", "the colour palette",
    "the error messages", "the release notes", "the sign-up form", "the help centre",
    "the status report", "the upload dialog",
)  # fmt: skip
COMPANY_WORDS = (
    "Bluefern", "Copperleaf", "Driftwood", "Emberline", "Foxglove", "Graniteway", "Hollowell",
    "Ivorybrook",
)  # fmt: skip
TRADES = ("Bakery", "Outfitters", "Studio", "Logistics", "Clinic")


def address_of(name: str) -> str:
    """Return the address that belongs to a name."""
    return f"{name.lower().replace(' ', '.')}@example.com"


PEOPLE = tuple(Person(name, address_of(name), role) for name, role in ROLES.items())
ME = PEOPLE[0]
MAKERS = PEOPLE[1:7]
SELLERS = PEOPLE[7:12]
ADDRESSES = {person.email for person in PEOPLE}


def fresh_state() -> State:
    """Return the company as every session finds it."""
    return _SEED.copy()


def _emails(rng: Random) -> Iterator[Email]:
    pairs = list(product(EMAIL_FORMS, TOPICS))
    rng.shuffle(pairs)
    for number, ((subject, body), topic) in enumerate(pairs, 1):
        other = rng.choice(PEOPLE[1:]).email
        is_sent = number % 6 == 0
        # steps of 7 hours and 13 minutes: no two emails share a time
        sent_at = NOW - timedelta(hours=7, minutes=13) * (len(pairs) + 1 - number)
        yield Email(
            id=f"email-{number:04d}",
            folder="sent" if is_sent else "inbox",
            sender=ME.email if is_sent else other,
            recipient=other if is_sent else ME.email,
            subject=subject.format(topic),
            body=body.format(topic),
            sent_at=sent_at.isoformat(timespec="minutes"),
        )


def _events(rng: Random) -> Iterator[Event]:
    first = datetime(2026, 3, 4)
    days = [day for n in range(28) if (day := first + timedelta(days=n)).weekday() < 5]
    slots = [day + timedelta(hours=hour) for day in days for hour in (9, 11, 14, 16)]
    starts = sorted(rng.sample(slots, 40))
    titles = [form.format(topic) for form, topic in product(EVENT_FORMS, TOPICS)]
    rng.shuffle(titles)
    for number, (start, title) in enumerate(zip(starts, titles, strict=True), 1):
        yield Event(
            id=f"event-{number:04d}",
            title=title,
            participant=rng.choice(PEOPLE[1:14]).email,
            start=start.isoformat(timespec="minutes"),
            duration_minutes=rng.choice((30, 45, 60)),
        )


def _tasks(rng: Random) -> Iterator[Task]:
    pairs = list(product(TASK_VERBS, TASK_OBJECTS))
    rng.shuffle(pairs)
    for number, (verb, thing) in enumerate(pairs, 1):
        due = NOW + timedelta(days=rng.randrange(-10, 30))
        yield Task(
            id=f"task-{number:04d}",
            title=f"{verb} {thing}",
            assignee=rng.choice(MAKERS).email,
            board=rng.choice(BOARDS),
            status=rng.choice(TASK_STATUSES),
            due_date=due.date().isoformat(),
        )


def _customers(rng: Random) -> Iterator[Customer]:
    names = [f"{word} {trade}" for word, trade in product(COMPANY_WORDS, TRADES)]
    rng.shuffle(names)
    for number, name in enumerate(names, 1):
        yield Customer(
            id=f"customer-{number:04d}",
            name=name,
            email=address_of(name),
            owner=rng.choice(SELLERS).email,
            status=rng.choice(CUSTOMER_STATUSES),
            product=rng.choice(PRODUCTS),
        )


def _seed_state() -> State:
    rng = Random(2026)  # noqa: S311
    emails = {email.id: email for email in _emails(rng)}
    events = {event.id: event for event in _events(rng)}
    tasks = {task.id: task for task in _tasks(rng)}
    customers = {customer.id: customer for customer in _customers(rng)}
    return State(
        Table("email", "email", emails, len(emails)),
        Table("event", "event", events, len(events)),
        Table("task", "task", tasks, len(tasks)),
        Table("customer", "customer", customers, len(customers)),
    )


_SEED = _seed_state()
