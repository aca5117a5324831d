"""Make tasks on our own company: requests whose answer is certain, and their ground truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any
from zlib import crc32

from collector.servers.resources_servers.workplace_assistant import OWN_TABLES
from collector.servers.resources_servers.workplace_assistant.analytics import PLOT_TYPES, PLOTTED
from collector.servers.resources_servers.workplace_assistant.company import (
    EVENTS,
    FIRMS,
    MAKERS,
    PEOPLE,
    SELLERS,
    THINGS,
    TODAY,
    TOPICS,
)
from collector.servers.resources_servers.workplace_assistant.tables import Record, load_company
from collector.servers.resources_servers.workplace_assistant.tools import (
    BOARDS,
    LISTS,
    PRODUCTS,
    STATUSES,
    TOOLS,
)

Row = dict[str, Any]
Request = tuple[str, list[tuple[str, Row]]]
MOST_CALLS = 5  # an agent takes six steps, and the last one is its answer
SYSTEM = (
    f"Today is {TODAY:%A, %Y-%m-%d}, and the time is {TODAY:%H:%M:%S}. Do just what you are asked, "
    "with the tools that you have, and copy texts word for word. Working hours are from 9:00 to "
    "18:00."
)
REPLIES = (
    "Thank you, I will look at it tomorrow.",
    "That is fine with me.",
    "Please talk to Nora first.",
    "Can we do this next week?",
)


@dataclass(frozen=True)
class Draw:
    """Draws what a request is about."""

    rng: Random
    tables: dict[str, list[Record]]

    def one(self, choices: Any) -> Any:
        """Draw one of several."""
        return self.rng.choice(list(choices))

    def two(self, choices: Any) -> Any:
        """Draw two different ones."""
        return self.rng.sample(list(choices), 2)

    def record(self, table: str) -> Record:
        """Draw a record."""
        return self.rng.choice(self.tables[table])

    def where(self, table: str, **wanted: Any) -> list[Record]:
        """Return the records that have these values."""
        return [record for record in self.tables[table] if wanted.items() <= record.items()]

    def day(self, first: int, last: int) -> str:
        """Draw a day that is some days from today."""
        return f"{TODAY + timedelta(days=self.rng.randrange(first, last)):%Y-%m-%d}"


def first_name(address: str) -> str:
    """Return what people call somebody."""
    return address.split(".", maxsplit=1)[0].title()


def _updates(tool: str, key: str, records: list[Record], field: str, value: str) -> Any:
    return [(tool, {key: found[key], "field": field, "new_value": value}) for found in records]


def _deletions(tool: str, key: str, records: list[Record]) -> Any:
    return [(tool, {key: found[key]}) for found in records]


def _last_email(draw: Draw) -> tuple[str, str]:
    """Return an email's id and how to call it: the last one of somebody with this subject."""
    drawn = draw.record("emails")
    sender, subject = drawn["sender/recipient"], drawn["subject"]
    found = draw.where("emails", **{"sender/recipient": sender, "subject": subject})
    last = max(found, key=lambda email: str(email["sent_datetime"]))
    return last["email_id"], f"{first_name(sender)}'s last email with the subject '{subject}'"


def reply(draw: Draw) -> Request:
    """Reply to an email."""
    (email_id, which), text = _last_email(draw), draw.one(REPLIES)
    return f"Reply to {which}: '{text}'", [
        ("email_reply_email", {"email_id": email_id, "body": text})
    ]


def forward(draw: Draw) -> Request:
    """Forward an email to one or more people."""
    (email_id, which), people = _last_email(draw), draw.rng.sample(PEOPLE[1:], draw.one((1, 2, 3)))
    names = " and ".join(first_name(person) for person in people)
    return f"Forward {which} to {names}.", [
        ("email_forward_email", {"email_id": email_id, "recipient": person}) for person in people
    ]


def delete_emails(draw: Draw) -> Request:
    """Delete all emails of somebody on a topic."""
    person, topic = draw.one(PEOPLE[1:]), draw.one(TOPICS)
    emails = draw.where("emails", **{"sender/recipient": person})
    found = [email for email in emails if topic in email["subject"]]
    return f"Delete every email that {first_name(person)} sent me about the {topic}.", _deletions(
        "email_delete_email", "email_id", found
    )


def send(draw: Draw) -> Request:
    """Send an email."""
    person, topic, text = draw.one(PEOPLE[1:]), draw.one(TOPICS), draw.one(REPLIES)
    given = {"recipient": person, "subject": f"About the {topic}", "body": text}
    return (
        f"Email {first_name(person)} with the subject 'About the {topic}' and the text '{text}'",
        [("email_send_email", given)],
    )


def rename_event(draw: Draw) -> Request:
    """Rename the first or last event of a day."""
    day = draw.record("calendar_events")["event_start"][:10]
    which, pick = draw.one([("first", min), ("last", max)])
    events = [one for one in draw.tables["calendar_events"] if one["event_start"].startswith(day)]
    event = pick(events, key=lambda one: str(one["event_start"]))
    names = {form.format(topic) for form in EVENTS for topic in TOPICS} - {event["event_name"]}
    name = draw.one(sorted(names))
    return f"Rename the {which} event on {day} to '{name}'", _updates(
        "calendar_update_event", "event_id", [event], "event_name", name
    )


def _coming(draw: Draw, person: str) -> list[Record]:
    events = draw.where("calendar_events", participant_email=person)
    return [event for event in events if event["event_start"] > str(TODAY)]


def cancel_events(draw: Draw) -> Request:
    """Cancel all coming events with somebody."""
    person = draw.one(PEOPLE[1:])
    return f"{first_name(person)} is ill: cancel all coming events with them.", _deletions(
        "calendar_delete_event", "event_id", _coming(draw, person)
    )


def shorten_events(draw: Draw) -> Request:
    """Change how long the coming events with somebody take."""
    person = draw.one(PEOPLE[1:])
    long = [event for event in _coming(draw, person) if event["duration"] != "30"]
    return (
        f"Shorten every coming event with {first_name(person)} to half an hour, if it is longer.",
        _updates("calendar_update_event", "event_id", long, "duration", "30"),
    )


def schedule(draw: Draw) -> Request:
    """Create an event."""
    person, name, day = draw.one(PEOPLE[1:]), draw.one(TOPICS), draw.day(1, 20)
    hour, minutes = draw.one(range(9, 17)), draw.one((30, 60, 90))
    given = {
        "event_name": name,
        "participant_email": person,
        "event_start": f"{day} {hour:02d}:00:00",
        "duration": str(minutes),
    }
    return (
        f"Put '{name}' with {first_name(person)} into my calendar: on {day} at {hour}:00,"
        f" for {minutes} minutes.",
        [("calendar_create_event", given)],
    )


def _plot(first: str, last: str, value: str, kind: str) -> tuple[str, Row]:
    given = {"time_min": first, "time_max": last, "value_to_plot": value, "plot_type": kind}
    return "analytics_create_plot", given


def plot(draw: Draw) -> Request:
    """Make one or more plots."""
    first, last = sorted((draw.day(-60, -20), draw.day(-20, 0)))
    values, kind = draw.rng.sample(PLOTTED, draw.one((1, 1, 2, 3))), draw.one(PLOT_TYPES)
    names = " and ".join(value.replace("_", " ") for value in values)
    return f"Make a {kind} plot of {names} from {first} to {last}.", [
        _plot(first, last, value, kind) for value in values
    ]


def plot_if(draw: Draw) -> Request:
    """Make a plot or send an email, whatever the visits say."""
    day, limit, person = draw.day(-50, 0), draw.one(range(7, 13)), draw.one(PEOPLE[1:])
    count = len(draw.where("analytics_data", date_of_visit=day))
    text = draw.one(REPLIES)
    email = {"recipient": person, "subject": f"Visits on {day}", "body": text}
    calls = [_plot(day, str(TODAY)[:10], "total_visits", "line")]
    return (
        f"If we had more than {limit} visits on {day}, make a line plot of total visits from then"
        f" until today. Otherwise email {first_name(person)} with the subject 'Visits on {day}'"
        f" and the text '{text}'",
        calls if count > limit else [("email_send_email", email)],
    )


def move_tasks(draw: Draw) -> Request:
    """Move all of somebody's tasks of a board to another list."""
    person, board, (here, there) = draw.one(MAKERS), draw.one(BOARDS), draw.two(LISTS)
    found = draw.where("project_tasks", assigned_to_email=person, board=board, list_name=here)
    return (
        f"Move all of {first_name(person)}'s tasks on the {board} board from {here} to {there}.",
        _updates("project_management_update_task", "task_id", found, "list_name", there),
    )


def reassign_overdue(draw: Draw) -> Request:
    """Give somebody's overdue tasks to somebody else."""
    (person, other), board = draw.two(MAKERS), draw.one(BOARDS)
    tasks = draw.where("project_tasks", assigned_to_email=person, board=board)
    today = str(TODAY)[:10]
    late = [one for one in tasks if one["list_name"] != "Completed" and one["due_date"] < today]
    return (
        f"Give {first_name(person)}'s overdue {board} tasks to {first_name(other)},"
        " unless they are completed.",
        _updates("project_management_update_task", "task_id", late, "assigned_to_email", other),
    )


def delete_tasks(draw: Draw) -> Request:
    """Delete all tasks with a name that are done."""
    thing = draw.one(THINGS)
    tasks = draw.where("project_tasks", list_name="Completed")
    found = [task for task in tasks if task["task_name"].endswith(thing)]
    return f"Delete the completed tasks on {thing}, on all boards.", _deletions(
        "project_management_delete_task", "task_id", found
    )


def create_task(draw: Draw) -> Request:
    """Create a task."""
    person, board, day = draw.one(MAKERS), draw.one(BOARDS), draw.day(1, 20)
    name = f"Review {draw.one(THINGS)}"
    given = {
        "task_name": name,
        "assigned_to_email": person,
        "list_name": "Backlog",
        "due_date": day,
        "board": board,
    }
    return (
        f"Add a task '{name}' for {first_name(person)} to the backlog of the {board} board,"
        f" due on {day}.",
        [("project_management_create_task", given)],
    )


CUSTOMERS = "customer_relationship_manager_data"
UPDATE = "customer_relationship_manager_update_customer"


def take_over(draw: Draw) -> Request:
    """Give somebody's customers to somebody else."""
    (person, other), status, product = draw.two(SELLERS), draw.one(STATUSES), draw.one(PRODUCTS)
    found = draw.where(CUSTOMERS, assigned_to_email=person, status=status, product_interest=product)
    return (
        f"{first_name(other)} takes over {first_name(person)}'s customers with the status {status}"
        f" that are interested in {product.lower()}. Change that in the CRM.",
        _updates(UPDATE, "customer_id", found, "assigned_to_email", other),
    )


def lose(draw: Draw) -> Request:
    """Give up proposals that nobody answered."""
    product, weeks = draw.one(PRODUCTS), draw.one((4, 5, 6))
    limit = str(TODAY - timedelta(weeks=weeks))
    open_ones = draw.where(CUSTOMERS, status="Proposal", product_interest=product)
    found = [customer for customer in open_ones if customer["last_contact_date"] < limit]
    return (
        f"Set all {product.lower()} proposals to lost if the last contact was more than {weeks}"
        " weeks ago.",
        _updates(UPDATE, "customer_id", found, "status", "Lost"),
    )


def delete_customers(draw: Draw) -> Request:
    """Delete somebody's customers of a status."""
    person, product = draw.one(SELLERS), draw.one(PRODUCTS)
    found = draw.where(CUSTOMERS, assigned_to_email=person, status="Lost", product_interest=product)
    return (
        f"Delete {first_name(person)}'s lost customers that wanted {product.lower()}.",
        _deletions("customer_relationship_manager_delete_customer", "customer_id", found),
    )


def add_customer(draw: Draw) -> Request:
    """Add a customer."""
    person, product, firm = draw.one(SELLERS), draw.one(PRODUCTS), draw.one(FIRMS)
    name = f"{draw.one(('Kaya', 'Luis', 'Mona', 'Nils'))} {draw.one(('Keller', 'Lund', 'Marsh'))}"
    email = f"{name.lower().replace(' ', '.')}@{firm}.example"
    given = {
        "customer_name": name,
        "assigned_to_email": person,
        "status": "Lead",
        "customer_email": email,
        "product_interest": product,
    }
    return (
        f"Add {name} ({email}) to the CRM as a lead of {first_name(person)}'s,"
        f" interested in {product.lower()}.",
        [("customer_relationship_manager_add_customer", given)],
    )


KINDS: dict[str, tuple[Callable[[Draw], Request], ...]] = {
    "email": (reply, forward, delete_emails, send),
    "calendar": (rename_event, cancel_events, shorten_events, schedule),
    "analytics": (plot, plot_if),
    "project_management": (move_tasks, reassign_overdue, delete_tasks, create_task),
    "customer_relationship_manager": (take_over, lose, delete_customers, add_customer),
}


def make_tasks(seed: int, count: int) -> Iterator[Row]:
    """Make task rows, going round through the categories; every sixth is of two of them.

    An even and an odd seed have no task in common, so that one can be trained and one tested on.
    """
    company = load_company(OWN_TABLES)
    tables = {name: table.records for name, table in company.tables.items()}
    draw = Draw(Random(f"workplace_assistant {seed}"), tables)  # noqa: S311
    tools = [tool.schema() for tool in TOOLS]
    categories = [*KINDS, "multi_domain"]
    seen: set[str] = set()
    for number in range(count):
        category = categories[number % len(categories)]
        text, calls = _request(draw, category)
        while text in seen or crc32(text.encode()) % 2 != seed % 2:
            text, calls = _request(draw, category)
        seen.add(text)
        yield {
            "id": number,
            "responses_create_params": {
                "input": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": text},
                ],
                "tools": tools,
                "parallel_tool_calls": False,
                "temperature": 1.0,
            },
            "ground_truth": [
                {"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls
            ],
            "category": f"workplace_assistant_{category}",
            "environment_name": "workplace_assistant",
        }


def _request(draw: Draw, category: str) -> Request:
    """Draw requests until one has enough to do, and not too much."""
    fewest = draw.one((1, 1, 2, 3))
    while True:
        domains = draw.two(KINDS) if category == "multi_domain" else [category]
        parts = [draw.one(KINDS[domain])(draw) for domain in domains]
        calls = [call for _, part in parts for call in part]
        if all(part for _, part in parts) and fewest <= len(calls) <= MOST_CALLS:
            return "\n".join(text for text, _ in parts), calls
