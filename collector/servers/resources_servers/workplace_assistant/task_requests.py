"""Random requests about the company, each with the calls that fulfil it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from collector.servers.resources_servers.workplace_assistant.analytics import PLOT_TYPES, PLOTTED
from collector.servers.resources_servers.workplace_assistant.company import (
    EVENTS,
    FIRMS,
    PEOPLE,
    SELLERS,
    THINGS,
    TODAY,
    TOPICS,
    WORKERS,
)
from collector.servers.resources_servers.workplace_assistant.customers import PRODUCTS, STATUSES
from collector.servers.resources_servers.workplace_assistant.project_tasks import BOARDS, LISTS
from collector.servers.resources_servers.workplace_assistant.sampler import Sampler
from collector.servers.resources_servers.workplace_assistant.tables import Record

Row = dict[str, Any]
# the text of a request, and the name and arguments of each call
Request = tuple[str, list[tuple[str, Row]]]
REPLIES = (
    "Thank you, I will look at it tomorrow.",
    "That is fine with me.",
    "Please talk to Nora first.",
    "Can we do this next week?",
)


def first_name(address: str) -> str:
    """Return the first name of the person with an address."""
    return address.split(".", maxsplit=1)[0].title()


def _updates(tool: str, key: str, records: list[Record], field: str, value: str) -> Any:
    return [(tool, {key: record[key], "field": field, "new_value": value}) for record in records]


def _deletions(tool: str, key: str, records: list[Record]) -> Any:
    return [(tool, {key: record[key]}) for record in records]


def _last_email(sampler: Sampler) -> tuple[str, str]:
    """Return the id and a description of an email: the last one with its sender and subject."""
    email = sampler.choose_record("emails")
    sender, subject = email["sender/recipient"], email["subject"]
    found = sampler.find("emails", **{"sender/recipient": sender, "subject": subject})
    last = max(found, key=lambda email: str(email["sent_datetime"]))
    return last["email_id"], f"{first_name(sender)}'s last email with the subject '{subject}'"


def reply_to_email(sampler: Sampler) -> Request:
    """Reply to an email."""
    (email_id, which), text = _last_email(sampler), sampler.choose(REPLIES)
    return f"Reply to {which}: '{text}'", [
        ("email_reply_email", {"email_id": email_id, "body": text})
    ]


def forward_email(sampler: Sampler) -> Request:
    """Forward an email to one or more people."""
    (email_id, which), people = (
        _last_email(sampler),
        sampler.rng.sample(PEOPLE[1:], sampler.choose((1, 2, 3))),
    )
    names = " and ".join(first_name(person) for person in people)
    return f"Forward {which} to {names}.", [
        ("email_forward_email", {"email_id": email_id, "recipient": person}) for person in people
    ]


def delete_emails(sampler: Sampler) -> Request:
    """Delete all emails from a person about a topic."""
    person, topic = sampler.choose(PEOPLE[1:]), sampler.choose(TOPICS)
    emails = sampler.find("emails", **{"sender/recipient": person})
    found = [email for email in emails if topic in email["subject"]]
    return f"Delete every email that {first_name(person)} sent me about the {topic}.", _deletions(
        "email_delete_email", "email_id", found
    )


def send_email(sampler: Sampler) -> Request:
    """Send an email."""
    person, topic, text = (
        sampler.choose(PEOPLE[1:]),
        sampler.choose(TOPICS),
        sampler.choose(REPLIES),
    )
    arguments = {"recipient": person, "subject": f"About the {topic}", "body": text}
    return (
        f"Email {first_name(person)} with the subject 'About the {topic}' and the text '{text}'",
        [("email_send_email", arguments)],
    )


def rename_event(sampler: Sampler) -> Request:
    """Rename the first or last event of a day."""
    day = sampler.choose_record("calendar_events")["event_start"][:10]
    which, pick = sampler.choose([("first", min), ("last", max)])
    events = [
        one for one in sampler.tables["calendar_events"] if one["event_start"].startswith(day)
    ]
    event = pick(events, key=lambda one: str(one["event_start"]))
    names = {form.format(topic) for form in EVENTS for topic in TOPICS} - {event["event_name"]}
    name = sampler.choose(sorted(names))
    return f"Rename the {which} event on {day} to '{name}'", _updates(
        "calendar_update_event", "event_id", [event], "event_name", name
    )


def _coming_events(sampler: Sampler, person: str) -> list[Record]:
    events = sampler.find("calendar_events", participant_email=person)
    return [event for event in events if event["event_start"] > str(TODAY)]


def cancel_events(sampler: Sampler) -> Request:
    """Cancel all coming events with a person."""
    person = sampler.choose(PEOPLE[1:])
    return f"{first_name(person)} is ill: cancel all coming events with them.", _deletions(
        "calendar_delete_event", "event_id", _coming_events(sampler, person)
    )


def shorten_events(sampler: Sampler) -> Request:
    """Shorten the coming events with a person."""
    person = sampler.choose(PEOPLE[1:])
    long = [event for event in _coming_events(sampler, person) if event["duration"] != "30"]
    return (
        f"Shorten every coming event with {first_name(person)} to half an hour, if it is longer.",
        _updates("calendar_update_event", "event_id", long, "duration", "30"),
    )


def create_event(sampler: Sampler) -> Request:
    """Create an event."""
    person, name, day = (
        sampler.choose(PEOPLE[1:]),
        sampler.choose(TOPICS),
        sampler.choose_day(1, 20),
    )
    hour, minutes = sampler.choose(range(9, 17)), sampler.choose((30, 60, 90))
    arguments = {
        "event_name": name,
        "participant_email": person,
        "event_start": f"{day} {hour:02d}:00:00",
        "duration": str(minutes),
    }
    return (
        f"Put '{name}' with {first_name(person)} into my calendar: on {day} at {hour}:00,"
        f" for {minutes} minutes.",
        [("calendar_create_event", arguments)],
    )


def _plot_call(first: str, last: str, value: str, kind: str) -> tuple[str, Row]:
    arguments = {"time_min": first, "time_max": last, "value_to_plot": value, "plot_type": kind}
    return "analytics_create_plot", arguments


def create_plots(sampler: Sampler) -> Request:
    """Create one or more plots."""
    first, last = sorted((sampler.choose_day(-60, -20), sampler.choose_day(-20, 0)))
    values, kind = (
        sampler.rng.sample(PLOTTED, sampler.choose((1, 1, 2, 3))),
        sampler.choose(PLOT_TYPES),
    )
    names = " and ".join(value.replace("_", " ") for value in values)
    return f"Make a {kind} plot of {names} from {first} to {last}.", [
        _plot_call(first, last, value, kind) for value in values
    ]


def plot_or_email(sampler: Sampler) -> Request:
    """Create a plot or send an email, depending on the number of visits."""
    day, limit, person = (
        sampler.choose_day(-50, 0),
        sampler.choose(range(7, 13)),
        sampler.choose(PEOPLE[1:]),
    )
    count = len(sampler.find("analytics_data", date_of_visit=day))
    text = sampler.choose(REPLIES)
    email = {"recipient": person, "subject": f"Visits on {day}", "body": text}
    calls = [_plot_call(day, str(TODAY)[:10], "total_visits", "line")]
    return (
        f"If we had more than {limit} visits on {day}, make a line plot of total visits from then"
        f" until today. Otherwise email {first_name(person)} with the subject 'Visits on {day}'"
        f" and the text '{text}'",
        calls if count > limit else [("email_send_email", email)],
    )


def move_tasks(sampler: Sampler) -> Request:
    """Move a person's tasks on a board from one list to another."""
    person, board, (here, there) = (
        sampler.choose(WORKERS),
        sampler.choose(BOARDS),
        sampler.choose_two(LISTS),
    )
    found = sampler.find("project_tasks", assigned_to_email=person, board=board, list_name=here)
    return (
        f"Move all of {first_name(person)}'s tasks on the {board} board from {here} to {there}.",
        _updates("project_management_update_task", "task_id", found, "list_name", there),
    )


def reassign_overdue(sampler: Sampler) -> Request:
    """Assign a person's overdue tasks to another person."""
    (person, other), board = sampler.choose_two(WORKERS), sampler.choose(BOARDS)
    tasks = sampler.find("project_tasks", assigned_to_email=person, board=board)
    today = str(TODAY)[:10]
    late = [one for one in tasks if one["list_name"] != "Completed" and one["due_date"] < today]
    return (
        f"Give {first_name(person)}'s overdue {board} tasks to {first_name(other)},"
        " unless they are completed.",
        _updates("project_management_update_task", "task_id", late, "assigned_to_email", other),
    )


def delete_tasks(sampler: Sampler) -> Request:
    """Delete the completed tasks about a thing."""
    thing = sampler.choose(THINGS)
    tasks = sampler.find("project_tasks", list_name="Completed")
    found = [task for task in tasks if task["task_name"].endswith(thing)]
    return f"Delete the completed tasks on {thing}, on all boards.", _deletions(
        "project_management_delete_task", "task_id", found
    )


def create_task(sampler: Sampler) -> Request:
    """Create a task."""
    person, board, day = sampler.choose(WORKERS), sampler.choose(BOARDS), sampler.choose_day(1, 20)
    name = f"Review {sampler.choose(THINGS)}"
    arguments = {
        "task_name": name,
        "assigned_to_email": person,
        "list_name": "Backlog",
        "due_date": day,
        "board": board,
    }
    return (
        f"Add a task '{name}' for {first_name(person)} to the backlog of the {board} board,"
        f" due on {day}.",
        [("project_management_create_task", arguments)],
    )


NEW_FIRST_NAMES = ("Kaya", "Luis", "Mona", "Nils")
NEW_LAST_NAMES = ("Keller", "Lund", "Marsh")
CUSTOMERS = "customer_relationship_manager_data"
UPDATE_CUSTOMER = "customer_relationship_manager_update_customer"


def reassign_customers(sampler: Sampler) -> Request:
    """Assign some customers of a person to another person."""
    (person, other), status, product = (
        sampler.choose_two(SELLERS),
        sampler.choose(STATUSES),
        sampler.choose(PRODUCTS),
    )
    found = sampler.find(
        CUSTOMERS, assigned_to_email=person, status=status, product_interest=product
    )
    return (
        f"{first_name(other)} takes over {first_name(person)}'s customers with the status {status}"
        f" that are interested in {product.lower()}. Change that in the CRM.",
        _updates(UPDATE_CUSTOMER, "customer_id", found, "assigned_to_email", other),
    )


def lose_proposals(sampler: Sampler) -> Request:
    """Set proposals without recent contact to lost."""
    product, weeks = sampler.choose(PRODUCTS), sampler.choose((4, 5, 6))
    limit = str(TODAY - timedelta(weeks=weeks))
    open_ones = sampler.find(CUSTOMERS, status="Proposal", product_interest=product)
    found = [customer for customer in open_ones if customer["last_contact_date"] < limit]
    return (
        f"Set all {product.lower()} proposals to lost if the last contact was more than {weeks}"
        " weeks ago.",
        _updates(UPDATE_CUSTOMER, "customer_id", found, "status", "Lost"),
    )


def delete_customers(sampler: Sampler) -> Request:
    """Delete a person's lost customers."""
    person, product = sampler.choose(SELLERS), sampler.choose(PRODUCTS)
    found = sampler.find(
        CUSTOMERS, assigned_to_email=person, status="Lost", product_interest=product
    )
    return (
        f"Delete {first_name(person)}'s lost customers that wanted {product.lower()}.",
        _deletions("customer_relationship_manager_delete_customer", "customer_id", found),
    )


def add_customer(sampler: Sampler) -> Request:
    """Add a customer."""
    person, product, firm = sampler.choose(SELLERS), sampler.choose(PRODUCTS), sampler.choose(FIRMS)
    name = " ".join(sampler.choose(names) for names in (NEW_FIRST_NAMES, NEW_LAST_NAMES))
    email = f"{name.lower().replace(' ', '.')}@{firm}.example"
    arguments = {
        "customer_name": name,
        "assigned_to_email": person,
        "status": "Lead",
        "customer_email": email,
        "product_interest": product,
    }
    return (
        f"Add {name} ({email}) to the CRM as a lead of {first_name(person)}'s,"
        f" interested in {product.lower()}.",
        [("customer_relationship_manager_add_customer", arguments)],
    )


REQUESTS: dict[str, tuple[Callable[[Sampler], Request], ...]] = {
    "email": (reply_to_email, forward_email, delete_emails, send_email),
    "calendar": (rename_event, cancel_events, shorten_events, create_event),
    "analytics": (create_plots, plot_or_email),
    "project_management": (move_tasks, reassign_overdue, delete_tasks, create_task),
    "customer_relationship_manager": (
        reassign_customers,
        lose_proposals,
        delete_customers,
        add_customer,
    ),
}
