"""Requests about emails."""

from __future__ import annotations

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.company import PEOPLE
from collector.servers.resources_servers.workplace.requests import BODIES, Draw, Kind, Slots
from collector.servers.resources_servers.workplace.state import Email, State

OTHERS = PEOPLE[1:]


def _inbox(state: State) -> list[Email]:
    return [email for email in state.emails.rows.values() if email.folder == "inbox"]


def email_with(state: State, subject: str) -> Email:
    """Return the one email of that subject."""
    (email,) = [email for email in state.emails.rows.values() if email.subject == subject]
    return email


def _from(state: State, sender: str) -> list[Email]:
    return [email for email in _inbox(state) if email.sender == sender]


def _subject(draw: Draw) -> Slots:
    return {"about": draw.field(_inbox(draw.state), "subject")}


def _send(_: State, slots: Slots) -> list[Call]:
    names = {"recipient": "to", "subject": "subject", "body": "body"}
    return [Call("email_send", {name: slots[slot].value for name, slot in names.items()})]


def _reply(state: State, slots: Slots) -> list[Call]:
    email = email_with(state, slots["about"].value)
    return [Call("email_reply", {"email_id": email.id, "body": slots["body"].value})]


def _delete(state: State, slots: Slots) -> list[Call]:
    return [Call("email_delete", {"email_id": email_with(state, slots["about"].value).id})]


def _forward(state: State, slots: Slots) -> list[Call]:
    email = email_with(state, slots["about"].value)
    return [Call("email_forward", {"email_id": email.id, "recipient": slots["to"].value})]


def _reply_to_latest(state: State, slots: Slots) -> list[Call]:
    emails = _from(state, slots["sender"].value)
    if not emails:
        return []
    latest = max(emails, key=lambda email: email.sent_at)
    return [Call("email_reply", {"email_id": latest.id, "body": slots["body"].value})]


def _delete_all(state: State, slots: Slots) -> list[Call]:
    return [
        Call("email_delete", {"email_id": email.id})
        for email in _from(state, slots["sender"].value)
    ]


def _forward_all(state: State, slots: Slots) -> list[Call]:
    return [
        Call("email_forward", {"email_id": email.id, "recipient": slots["to"].value})
        for email in _from(state, slots["sender"].value)
    ]


EMAIL_KINDS = (
    Kind(
        "email",
        (
            'Send an email to {to} with the subject "{subject}" and the body "{body}".',
            'Email {to}: the subject is "{subject}" and the body is "{body}".',
            'Write to {to}, with "{subject}" as the subject and "{body}" as the body.',
        ),
        1,
        lambda draw: {"to": draw.person(OTHERS), **draw.message()},
        _send,
    ),
    Kind(
        "email",
        (
            'Reply to the email with the subject "{about}" and say "{body}".',
            'Answer the email "{about}" with "{body}".',
            'Reply "{body}" to the email titled "{about}".',
        ),
        1,
        lambda draw: {**_subject(draw), "body": draw.one(BODIES)},
        _reply,
    ),
    Kind(
        "email",
        (
            'Delete the email with the subject "{about}".',
            'Remove the email "{about}" from my mailbox.',
            'I no longer need the email titled "{about}", so delete it.',
        ),
        1,
        _subject,
        _delete,
    ),
    Kind(
        "email",
        (
            'Forward the email with the subject "{about}" to {to}.',
            'Pass the email "{about}" on to {to}.',
            'Let {to} have a copy of the email "{about}": forward it.',
        ),
        2,
        lambda draw: {**_subject(draw), "to": draw.person(OTHERS)},
        _forward,
    ),
    Kind(
        "email",
        (
            'Reply to the latest email from {sender} with "{body}".',
            'Answer the last email that {sender} sent me with "{body}".',
        ),
        2,
        lambda draw: {"sender": draw.person(OTHERS), "body": draw.one(BODIES)},
        _reply_to_latest,
    ),
    Kind(
        "email",
        (
            "Delete all emails from {sender}.",
            "Remove every email that {sender} sent me.",
            "I want nothing from {sender} in my inbox: delete all of it.",
        ),
        2,
        lambda draw: {"sender": draw.person(OTHERS)},
        _delete_all,
    ),
    Kind(
        "email",
        (
            "Forward every email from {sender} to {to}.",
            "Pass all the emails that {sender} sent me on to {to}.",
        ),
        3,
        lambda draw: dict(zip(("sender", "to"), draw.two_people(OTHERS), strict=True)),
        _forward_all,
    ),
)
