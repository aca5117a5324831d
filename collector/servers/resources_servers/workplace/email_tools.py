"""The tools around people and emails."""

from __future__ import annotations

import dataclasses
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace.arguments import (
    Address,
    Day,
    Text,
    WorkArguments,
    is_same,
    listed,
    mentions,
    within,
)
from collector.servers.resources_servers.workplace.company import ME, NOW, PEOPLE
from collector.servers.resources_servers.workplace.state import Email, State

Row = dict[str, Any]


class FindPerson(WorkArguments):
    """Whom to look for."""

    name: Text


class SearchEmails(WorkArguments):
    """Which emails to look for."""

    query: str | None = None
    sender: Address | None = None
    date_from: Day | None = None
    date_to: Day | None = None


class SendEmail(WorkArguments):
    """A new email."""

    recipient: Address
    subject: Text
    body: Text


class ReplyEmail(WorkArguments):
    """A reply."""

    email_id: str
    body: Text


class ForwardEmail(WorkArguments):
    """A forwarded email."""

    email_id: str
    recipient: Address


class DeleteEmail(WorkArguments):
    """An email to delete."""

    email_id: str


def find_person(_: State, given: FindPerson) -> Row:
    """Look a person up by name."""
    found = [dataclasses.asdict(person) for person in PEOPLE if mentions(given.name, person.name)]
    return {"people": found, "total": len(found)}


def search_emails(state: State, given: SearchEmails) -> Row:
    """List emails, the newest first."""
    found = [
        email
        for email in state.emails.rows.values()
        if mentions(given.query, email.subject, email.body)
        and is_same(given.sender, email.sender)
        and within(email.sent_at, given.date_from, given.date_to)
    ]
    return listed("emails", sorted(found, key=lambda email: (email.sent_at, email.id))[::-1])


def send_email(state: State, given: SendEmail) -> Row:
    """Send an email."""
    return _send(state, given.recipient, subject=given.subject, body=given.body)


def reply_email(state: State, given: ReplyEmail) -> Row:
    """Answer the other side of an email."""
    email = state.emails.get(given.email_id)
    other = email.recipient if email.sender == ME.email else email.sender
    return _send(state, other, subject=f"Re: {email.subject}", body=given.body)


def forward_email(state: State, given: ForwardEmail) -> Row:
    """Send an email on to someone else."""
    email = state.emails.get(given.email_id)
    return _send(state, given.recipient, subject=f"Fw: {email.subject}", body=email.body)


def delete_email(state: State, given: DeleteEmail) -> Row:
    """Delete an email."""
    return {"deleted": state.emails.remove(given.email_id).id}


def _send(state: State, recipient: str, *, subject: str, body: str) -> Row:
    email = Email(
        id="",
        folder="sent",
        sender=ME.email,
        recipient=recipient,
        subject=subject,
        body=body,
        sent_at=NOW.isoformat(timespec="minutes"),
    )
    return dataclasses.asdict(state.emails.add(email))


EMAIL_TOOLS: tuple[Tool[State], ...] = (
    Tool("directory_find", "Find people by first or full name.", FindPerson, find_person),
    Tool(
        "email_search",
        "Search the mailbox, newest first; every word of the query must occur. At most 20 results.",
        SearchEmails,
        search_emails,
    ),
    Tool("email_send", "Send a new email.", SendEmail, send_email),
    Tool("email_reply", "Reply to an email.", ReplyEmail, reply_email),
    Tool("email_forward", "Forward an email as it is.", ForwardEmail, forward_email),
    Tool("email_delete", "Delete an email.", DeleteEmail, delete_email),
)
