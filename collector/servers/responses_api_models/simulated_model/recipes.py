"""What to do for each kind of request."""

from __future__ import annotations

from collector.servers.responses_api_models.simulated_model.conversation import Call, Row
from collector.servers.responses_api_models.simulated_model.phrases import Slots
from collector.servers.responses_api_models.simulated_model.plans import (
    Recipe,
    acting,
    first_by,
    last_by,
    searching,
    titled,
)

find_email = searching("email_search", query="about")
find_event = searching("calendar_search", query="event")
find_task = searching("project_search", query="task")
find_customer = searching("customer_search", query="company")
from_sender = searching("email_search", sender="sender")
upcoming = searching("calendar_search", participant="who", date_from="today")
on_day = searching("calendar_search", date_from="date", date_to="date")
tasks_of = searching("project_search", assignee="who", board="board", status="status")
customers_of = searching("customer_search", owner="who", status="stage", product="product")
by_subject = titled("subject", "about")
by_event = titled("title", "event")
by_task = titled("title", "task")
by_company = titled("name", "company")
delete_email = acting("email_delete", "email_id")
forward_email = acting("email_forward", "email_id", recipient="to")
reply_email = acting("email_reply", "email_id", body="body")
delete_event = acting("calendar_delete", "event_id")
delete_task = acting("project_delete", "task_id")
delete_customer = acting("customer_delete", "customer_id")


def _start(slots: Slots) -> str:
    return f"{slots['date']}T{slots['time'].zfill(5)}"


def _send(recipient: str, slots: Slots) -> Call:
    message = {"subject": slots["subject"], "body": slots["body"]}
    return Call("email_send", {"recipient": recipient, **message})


def _meet(participant: str, slots: Slots) -> Call:
    arguments = {
        "title": slots["title"],
        "participant": participant,
        "start": _start(slots),
        "duration_minutes": int(slots["minutes"]),
    }
    return Call("calendar_create", arguments)


def _create_task(assignee: str, slots: Slots) -> Call:
    arguments = {name: slots[name] for name in ("title", "board", "status")}
    return Call("project_create", {**arguments, "assignee": assignee, "due_date": slots["date"]})


def _add_customer(_: Row, slots: Slots) -> Call:
    slot_of = {"name": "company", "email": "address", "owner": "who", "status": "stage"}
    arguments = {name: slots[slot] for name, slot in slot_of.items()}
    return Call("customer_add", {**arguments, "product": slots["product"]})


def _move(event: Row, slots: Slots) -> Call:
    return Call("calendar_update", {"event_id": event["id"], "start": _start(slots)})


def _resize(event: Row, slots: Slots) -> Call:
    minutes = int(slots["minutes"])
    return Call("calendar_update", {"event_id": event["id"], "duration_minutes": minutes})


def _task_update(*people: str, **slot_of: str) -> Recipe:
    return Recipe(acting("project_update", "task_id", **slot_of), people, find_task, by_task)


def _tasks_update(*people: str, **slot_of: str) -> Recipe:
    return Recipe(acting("project_update", "task_id", **slot_of), people, tasks_of)


def _customer_update(*people: str, **slot_of: str) -> Recipe:
    act = acting("customer_update", "customer_id", **slot_of)
    return Recipe(act, people, find_customer, by_company)


def _customers_update(*people: str, **slot_of: str) -> Recipe:
    return Recipe(acting("customer_update", "customer_id", **slot_of), people, customers_of)


RECIPES = {
    "send": Recipe(lambda _, slots: _send(slots["to"], slots), ("to",)),
    "reply": Recipe(reply_email, (), find_email, by_subject),
    "delete_email": Recipe(delete_email, (), find_email, by_subject),
    "forward": Recipe(forward_email, ("to",), find_email, by_subject),
    "reply_to_latest": Recipe(reply_email, ("sender",), from_sender, last_by("sent_at")),
    "delete_emails": Recipe(delete_email, ("sender",), from_sender),
    "forward_emails": Recipe(forward_email, ("sender", "to"), from_sender),
    "schedule": Recipe(lambda _, slots: _meet(slots["who"], slots), ("who",)),
    "move_event": Recipe(_move, (), find_event, by_event),
    "resize_event": Recipe(_resize, (), find_event, by_event),
    "cancel_event": Recipe(delete_event, (), find_event, by_event),
    "cancel_next": Recipe(delete_event, ("who",), upcoming, first_by("start")),
    "move_next": Recipe(_move, ("who",), upcoming, first_by("start")),
    "cancel_day": Recipe(delete_event, (), on_day),
    "cancel_all": Recipe(delete_event, ("who",), upcoming),
    "resize_all": Recipe(_resize, ("who",), upcoming),
    "create_task": Recipe(lambda _, slots: _create_task(slots["who"], slots), ("who",)),
    "set_status": _task_update(status="goal"),
    "set_due": _task_update(due_date="date"),
    "delete_task": Recipe(delete_task, (), find_task, by_task),
    "assign_task": _task_update("who", assignee="who"),
    "move_tasks": _tasks_update("who", status="goal"),
    "delete_tasks": Recipe(delete_task, ("who",), tasks_of),
    "reassign_tasks": _tasks_update("who", "to", assignee="to"),
    "postpone_tasks": _tasks_update(due_date="date"),
    "add_customer": Recipe(_add_customer, ("who",)),
    "set_stage": _customer_update(status="goal"),
    "set_product": _customer_update(product="goal"),
    "delete_customer": Recipe(delete_customer, (), find_customer, by_company),
    "assign_customer": _customer_update("who", owner="who"),
    "move_customers": _customers_update("who", status="goal"),
    "delete_customers": Recipe(delete_customer, ("who",), customers_of),
    "reassign_customers": _customers_update("who", "to", owner="to"),
    "switch_customers": _customers_update("who", product="goal"),
    "email_owner": Recipe(
        lambda found, slots: _send(str(found.get("owner")), slots), (), find_customer, by_company
    ),
    "email_assignee": Recipe(
        lambda found, slots: _send(str(found.get("assignee")), slots), (), find_task, by_task
    ),
    "meet_assignee": Recipe(
        lambda found, slots: _meet(str(found.get("assignee")), slots), (), find_task, by_task
    ),
    "meet_owner": Recipe(
        lambda found, slots: _meet(str(found.get("owner")), slots), (), find_customer, by_company
    ),
    "task_for_sender": Recipe(
        lambda found, slots: _create_task(str(found.get("sender")), slots),
        (),
        find_email,
        by_subject,
    ),
}
