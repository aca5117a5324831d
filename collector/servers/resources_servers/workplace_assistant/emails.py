"""The tools on emails and on the company directory, with NeMo Gym's answers."""

from __future__ import annotations

from datetime import date
from typing import Any

from collector.servers.resources_servers.workplace_assistant.records import (
    PAGE_SIZE,
    CallRefusedError,
    Function,
    RecordTools,
    TextFilter,
    WordFilter,
    paginate,
    parse_time,
    refuse_unless,
)
from collector.servers.resources_servers.workplace_assistant.tables import COLUMNS, WorkplaceState

NOW = "2023-11-30 23:59:00"
EMAILS = RecordTools(
    "emails",
    "Email",
    "email_id",
    "Field '{field}' not found. Available fields: " + ", ".join(COLUMNS["emails"]),
)


def _find_email_address(state: WorkplaceState, name: Any = None) -> Any:
    refuse_unless(name, "Name not provided.")
    return list(filter(TextFilter(name).accepts, state.addresses))


def _search_emails(
    state: WorkplaceState, page: Any = 1, page_size: Any = PAGE_SIZE, **filters: Any
) -> Any:
    words = WordFilter(filters.get("query"))
    found = [
        email
        for email in reversed(EMAILS.table(state).records)
        if words.accepts(email["subject"], email["body"], email["sender/recipient"])
    ]
    if found:
        first, last = _day(filters, "date_min"), _day(filters, "date_max")
        days = {email["email_id"]: parse_time(email["sent_datetime"]).date() for email in found}
        found = [
            email
            for email in found
            if (first or date.min) <= days[email["email_id"]] <= (last or date.max)
        ]
    found.sort(key=lambda email: parse_time(email["sent_datetime"]), reverse=True)
    return paginate("emails", found, page, page_size)


def _day(filters: dict[str, Any], name: str) -> date | None:
    try:
        return parse_time(filters[name]).date() if filters.get(name) else None
    except ValueError:
        raise CallRefusedError(
            f"Error searching emails: {name} must be a day: YYYY-MM-DD"
        ) from None


def _send(state: WorkplaceState, recipient: Any, subject: Any, body: Any) -> None:
    emails = EMAILS.table(state)
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


def _send_email(
    state: WorkplaceState, recipient: Any = None, subject: Any = None, body: Any = None
) -> Any:
    refuse_unless(recipient and subject and body, "Recipient, subject, or body not provided.")
    _check_recipient(recipient)
    _send(state, recipient, subject, body)
    return "Email sent successfully."


def _forward_email(state: WorkplaceState, email_id: Any = None, recipient: Any = None) -> Any:
    refuse_unless(email_id and recipient, "Email ID or recipient not provided.")
    _check_recipient(recipient)
    email = EMAILS.find(state, email_id)
    _send(state, recipient, f"FW: {email['subject']}", email["body"])
    return "Email forwarded successfully."


def _reply_email(state: WorkplaceState, email_id: Any = None, body: Any = None) -> Any:
    refuse_unless(email_id and body, "Email ID or body not provided.")
    email = EMAILS.find(state, email_id)
    _send(state, email["sender/recipient"], f"RE: {email['subject']}", body)
    return "Email replied successfully."


EMAIL_TOOLS: dict[str, Function] = {
    "company_directory_find_email_address": _find_email_address,
    "email_get_email_information_by_id": EMAILS.get,
    "email_search_emails": _search_emails,
    "email_send_email": _send_email,
    "email_delete_email": EMAILS.delete,
    "email_forward_email": _forward_email,
    "email_reply_email": _reply_email,
}
