"""What the tools do: on emails, events, tasks and customers; NeMo Gym's answers word for word."""

from __future__ import annotations

import contextlib
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

from collector import yaml_values
from collector.servers.resources_servers.workplace_assistant.analytics import ANALYTICS
from collector.servers.resources_servers.workplace_assistant.records import (
    PAGE_SIZE,
    Function,
    Records,
    RefusedError,
    contains,
    has_words,
    one_of,
    page_of,
    refuse_unless,
    text_of,
    tool,
)
from collector.servers.resources_servers.workplace_assistant.tables import COLUMNS, State

NOW = "2023-11-30 23:59:00"
# what people and models write; ISO 8601 is understood anyway
TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d")
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _find_email_address(state: State, name: Any = None) -> Any:
    refuse_unless(name, "Name not provided.")
    return [address for address in state.addresses if contains(address, name)]


# Emails

EMAILS = Records(
    "emails",
    "Email",
    "email_id",
    "Field '{field}' not found. Available fields: " + ", ".join(COLUMNS["emails"]),
)


def _search_emails(state: State, page: Any = 1, page_size: Any = PAGE_SIZE, **wanted: Any) -> Any:
    found = [
        email
        for email in reversed(EMAILS.of(state).records)
        if has_words(
            wanted.get("query"), email["subject"], email["body"], email["sender/recipient"]
        )
    ]
    if found:
        first, last = _day(wanted, "date_min"), _day(wanted, "date_max")
        days = {email["email_id"]: _time(email["sent_datetime"]).date() for email in found}
        found = [
            email
            for email in found
            if (first or date.min) <= days[email["email_id"]] <= (last or date.max)
        ]
    found.sort(key=lambda email: _time(email["sent_datetime"]), reverse=True)
    return page_of("emails", found, page, page_size)


def _day(wanted: dict[str, Any], name: str) -> date | None:
    try:
        return _time(wanted[name]).date() if wanted.get(name) else None
    except ValueError:
        raise RefusedError(f"Error searching emails: {name} must be a day: YYYY-MM-DD") from None


def _send(state: State, recipient: Any, subject: Any, body: Any) -> None:
    emails = EMAILS.of(state)
    values = {
        "inbox/outbox": "outbox",
        "sender/recipient": str(recipient).lower(),
        "subject": subject,
        "sent_datetime": NOW,
        "body": body,
    }
    emails.create(str(int(emails.next_id())), values)


def _check_recipient(recipient: Any) -> None:
    is_address = isinstance(recipient, str) and "@" in recipient and "." in recipient
    refuse_unless(is_address, "Invalid recipient email address.")


def _time(value: Any) -> datetime:
    """Return a time, or a day at midnight; raise ValueError if a text is neither."""
    text = str(value).strip()
    for form in TIMES:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form)
    return datetime.fromisoformat(text).replace(tzinfo=None)


def _send_email(state: State, recipient: Any = None, subject: Any = None, body: Any = None) -> Any:
    refuse_unless(recipient and subject and body, "Recipient, subject, or body not provided.")
    _check_recipient(recipient)
    _send(state, recipient, subject, body)
    return "Email sent successfully."


def _forward_email(state: State, email_id: Any = None, recipient: Any = None) -> Any:
    refuse_unless(email_id and recipient, "Email ID or recipient not provided.")
    _check_recipient(recipient)
    email = EMAILS.find(state, email_id)
    _send(state, recipient, f"FW: {email['subject']}", email["body"])
    return "Email forwarded successfully."


def _reply_email(state: State, email_id: Any = None, body: Any = None) -> Any:
    refuse_unless(email_id and body, "Email ID or body not provided.")
    email = EMAILS.find(state, email_id)
    _send(state, email["sender/recipient"], f"RE: {email['subject']}", body)
    return "Email replied successfully."


def _with_lower_addresses(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: text_of(name, value).lower() if value and name.endswith("_email") else value
        for name, value in given.items()
    }


# Events


def _event_id(_: State, value: Any) -> str | None:
    is_id = re.fullmatch(r"\d{8}", str(value))
    return None if is_id else "Invalid event ID format. Expected 8-digit ID."


def _start(_: State, value: Any) -> str | None:
    return _time_problem("event_start", value)


def _time_problem(name: str, value: Any) -> str | None:
    try:
        _time(value)
    except ValueError:
        return f"Invalid {name} format. Expected YYYY-MM-DD HH:MM:SS."
    return None


def _duration(_: State, value: Any) -> str | None:
    try:
        minutes = int(value)
    except (TypeError, ValueError):
        return "Invalid duration format. Expected a number of minutes."
    return None if minutes > 0 else "Duration must be a positive number of minutes."


EVENT_FIELDS = COLUMNS["calendar_events"]
EVENTS = Records(
    "calendar_events",
    "Event",
    "event_id",
    f"Invalid field. Available fields are: {', '.join(EVENT_FIELDS)}",
    EVENT_FIELDS[1:],
    f"Invalid field. Available fields are: {', '.join(EVENT_FIELDS[1:])}",
    {"event_start": _start, "duration": _duration},
    _event_id,
    checks_field_first=True,
)


def _search_events(state: State, page: Any = 1, page_size: Any = PAGE_SIZE, **wanted: Any) -> Any:
    for name in ("time_min", "time_max"):
        EVENTS.check(_time_problem(name, wanted[name]) if wanted.get(name) else None)
    first, last = (
        _time(wanted[name]) if wanted.get(name) else limit
        for name, limit in (("time_min", datetime.min), ("time_max", datetime.max))
    )
    texts = ("event_name", "participant_email")
    found = [
        event
        for event in EVENTS.of(state).records
        if any(contains(event[name], wanted.get("query")) for name in texts)
        and first <= _time(event["event_start"]) <= last
    ]
    found.sort(key=lambda event: _time(event["event_start"]), reverse=True)
    return page_of("events", found, page, page_size)


def _create_event(state: State, **given: Any) -> Any:
    refuse_unless(given.get("event_name"), "Event name not provided.")
    refuse_unless(given.get("participant_email"), "Participant email not provided.")
    refuse_unless(given.get("event_start"), "Event start not provided.")
    refuse_unless(given.get("duration"), "Event duration not provided.")
    for name, check in EVENTS.checks.items():
        EVENTS.check(check(state, given[name]))
    return EVENTS.create(state, _with_lower_addresses(given))


# Tasks


def _assignee(state: State, value: Any) -> str | None:
    team = {task["assigned_to_email"] for task in TASKS.of(state).records}
    if str(value).lower() in team:
        return None
    return "Assignee email not valid. Please choose from the list of team members."


TASKS = Records(
    "project_tasks",
    "Task",
    "task_id",
    "Field not found.",
    COLUMNS["project_tasks"],
    "Field not valid.",
    {
        "assigned_to_email": _assignee,
        "list_name": one_of(LISTS, f"List not valid. Please choose from: {_quoted(LISTS)}."),
        "board": one_of(BOARDS, f"Board not valid. Please choose from: {_quoted(BOARDS)}."),
    },
)


def _search_tasks(state: State, **wanted: Any) -> Any:
    refuse_unless(any(wanted.values()), "No search parameters provided.")
    address = wanted.get("assigned_to_email")
    is_address = not address or re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", str(address))
    refuse_unless(is_address, "Invalid email format for assigned_to_email.")
    return [
        task
        for task in TASKS.of(state).records
        if all(
            contains(task[name], value)
            for name, value in wanted.items()
            if value and name != "assigned_to_email"
        )
        and (not address or task["assigned_to_email"] == str(address).lower())
    ]


def _create_task(state: State, **given: Any) -> Any:
    names = COLUMNS["project_tasks"][1:]
    refuse_unless(all(given.get(name) for name in names), "Missing task details.")
    for name, check in TASKS.checks.items():
        TASKS.check(check(state, given[name]))
    return TASKS.create(state, _with_lower_addresses(given))


# Customers


CUSTOMER_FIELDS = (
    *("customer_name", "assigned_to_email", "customer_email", "customer_phone"),
    *("last_contact_date", "product_interest", "status", "notes", "follow_up_by"),
)
CUSTOMERS = Records(
    "customer_relationship_manager_data",
    "Customer",
    "customer_id",
    fields=("customer_id", *CUSTOMER_FIELDS),
    no_update=f"Field not valid. Please choose from: {_quoted(CUSTOMER_FIELDS)}",
    checks={
        "status": one_of(STATUSES, f"Status not valid. Please choose from: {_quoted(STATUSES)}"),
        "product_interest": one_of(
            PRODUCTS, f"Product interest not valid. Please choose from: {_quoted(PRODUCTS)}"
        ),
    },
)


def _search_customers(
    state: State, page: Any = 1, page_size: Any = PAGE_SIZE, **wanted: Any
) -> Any:
    refuse_unless(
        any(wanted.values()),
        "No search parameters provided. Please provide at least one parameter.",
    )
    found = [
        customer
        for customer in CUSTOMERS.of(state).records
        if all(_meets(customer, name, value) for name, value in wanted.items() if value)
    ]
    return page_of("customers", found, page, page_size)


def _meets(customer: dict[str, Any], name: str, value: Any) -> bool:
    if name.endswith("_min"):
        return str(customer[name.removesuffix("_min")] or "") >= str(value)
    if name.endswith("_max"):
        known = customer[name.removesuffix("_max")]
        return known is not None and str(known) <= str(value)
    return contains(customer[name], value)


def _add_customer(state: State, **given: Any) -> Any:
    required = ("customer_name", "assigned_to_email", "status")
    refuse_unless(
        all(given.get(name) for name in required),
        f"Please provide all required fields: {', '.join(required)}.",
    )
    return CUSTOMERS.create(state, {"notes": "", **_with_lower_addresses(given)})


FUNCTIONS: dict[str, Function] = {
    "company_directory_find_email_address": _find_email_address,
    "email_get_email_information_by_id": EMAILS.get,
    "email_search_emails": _search_emails,
    "email_send_email": _send_email,
    "email_delete_email": EMAILS.delete,
    "email_forward_email": _forward_email,
    "email_reply_email": _reply_email,
    "calendar_get_event_information_by_id": EVENTS.get,
    "calendar_search_events": _search_events,
    "calendar_create_event": _create_event,
    "calendar_delete_event": EVENTS.delete,
    "calendar_update_event": EVENTS.update,
    **ANALYTICS,
    "project_management_get_task_information_by_id": TASKS.get,
    "project_management_search_tasks": _search_tasks,
    "project_management_create_task": _create_task,
    "project_management_delete_task": TASKS.delete,
    "project_management_update_task": TASKS.update,
    "customer_relationship_manager_search_customers": _search_customers,
    "customer_relationship_manager_update_customer": CUSTOMERS.update,
    "customer_relationship_manager_add_customer": _add_customer,
    "customer_relationship_manager_delete_customer": CUSTOMERS.delete,
}
DEFINITIONS = yaml_values.parse(Path(__file__).with_name("tools.yaml").read_text(encoding="utf-8"))
TOOLS = tuple(tool(name, DEFINITIONS[name], function) for name, function in FUNCTIONS.items())
