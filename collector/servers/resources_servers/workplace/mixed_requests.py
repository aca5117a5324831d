"""Requests that go from one kind of record to another."""

from __future__ import annotations

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.calendar_requests import start_of
from collector.servers.resources_servers.workplace.customer_requests import (
    company_slot,
    customer_named,
)
from collector.servers.resources_servers.workplace.email_requests import email_with
from collector.servers.resources_servers.workplace.project_requests import (
    create_call,
    new_task,
    task_slot,
    task_titled,
)
from collector.servers.resources_servers.workplace.requests import (
    MEETING_TITLES,
    Draw,
    Kind,
    Slots,
)
from collector.servers.resources_servers.workplace.state import State


def _send(recipient: str, slots: Slots) -> list[Call]:
    message = {name: slots[name].value for name in ("subject", "body")}
    return [Call("email_send", {"recipient": recipient, **message})]


def _meet(participant: str, slots: Slots) -> list[Call]:
    arguments = {
        "title": slots["title"].value,
        "participant": participant,
        "start": start_of(slots),
        "duration_minutes": slots["minutes"].value,
    }
    return [Call("calendar_create", arguments)]


def _owner(state: State, slots: Slots) -> str:
    return customer_named(state, slots["company"].value).owner


def _assignee(state: State, slots: Slots) -> str:
    return task_titled(state, slots["task"].value).assignee


def _meeting(draw: Draw) -> Slots:
    return {
        "title": draw.one(MEETING_TITLES),
        "time": draw.clock(),
        "minutes": draw.minutes(),
        **draw.day(),
    }


def _inbox_subject(draw: Draw) -> Slots:
    emails = [email for email in draw.state.emails.rows.values() if email.folder == "inbox"]
    return {"about": draw.field(emails, "subject")}


MIXED_KINDS = (
    Kind(
        "mixed",
        (
            'Email the owner of the customer {company} with the subject "{subject}" and the body '
            '"{body}".',
            'Write to whoever owns the customer {company}: the subject is "{subject}" and the '
            'body is "{body}".',
        ),
        1,
        lambda draw: {**company_slot(draw), **draw.message()},
        lambda state, slots: _send(_owner(state, slots), slots),
    ),
    Kind(
        "mixed",
        (
            'Send the person assigned to the task "{task}" an email with the subject "{subject}" '
            'and the body "{body}".',
            'Write to whoever works on the task "{task}": the subject is "{subject}" and the body '
            'is "{body}".',
        ),
        1,
        lambda draw: {**task_slot(draw), **draw.message()},
        lambda state, slots: _send(_assignee(state, slots), slots),
    ),
    Kind(
        "mixed",
        (
            'Schedule a meeting called "{title}" with the person assigned to the task "{task}" '
            "{when} at {time} for {minutes} minutes.",
            'Book {minutes} minutes with whoever works on the task "{task}" {when} at {time} and '
            'call it "{title}".',
        ),
        1,
        lambda draw: {**task_slot(draw), **_meeting(draw)},
        lambda state, slots: _meet(_assignee(state, slots), slots),
    ),
    Kind(
        "mixed",
        (
            'Schedule a meeting called "{title}" with the owner of the customer {company} '
            "{when} at {time} for {minutes} minutes.",
            "Book {minutes} minutes with whoever owns the customer {company} {when} at {time} and "
            'call it "{title}".',
        ),
        1,
        lambda draw: {**company_slot(draw), **_meeting(draw)},
        lambda state, slots: _meet(_owner(state, slots), slots),
    ),
    Kind(
        "mixed",
        (
            'Create a task "{title}" for whoever sent me the email "{about}" on the {board} board, '
            "due {when}, with the status {status}.",
            'The sender of the email "{about}" gets a new task "{title}" on the {board} board, due '
            "{when}, with the status {status}.",
        ),
        1,
        lambda draw: {**_inbox_subject(draw), **new_task(draw)},
        lambda state, slots: [create_call(slots, email_with(state, slots["about"].value).sender)],
    ),
)
