"""The tools on calendar events, with NeMo Gym's answers."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from collector.servers.resources_servers.workplace_assistant.records import (
    PAGE_SIZE,
    Function,
    RecordTools,
    TextFilter,
    lower_addresses,
    paginate,
    parse_time,
    refuse_if,
    refuse_unless,
)
from collector.servers.resources_servers.workplace_assistant.tables import COLUMNS, WorkplaceState


def _event_id(_: WorkplaceState, value: Any) -> str | None:
    is_id = re.fullmatch(r"\d{8}", str(value))
    return None if is_id else "Invalid event ID format. Expected 8-digit ID."


def _start(_: WorkplaceState, value: Any) -> str | None:
    return _time_problem("event_start", value)


def _time_problem(name: str, value: Any) -> str | None:
    try:
        parse_time(value)
    except ValueError:
        return f"Invalid {name} format. Expected YYYY-MM-DD HH:MM:SS."
    return None


def _duration(_: WorkplaceState, value: Any) -> str | None:
    try:
        minutes = int(value)
    except (TypeError, ValueError):
        return "Invalid duration format. Expected a number of minutes."
    return None if minutes > 0 else "Duration must be a positive number of minutes."


EVENT_FIELDS = COLUMNS["calendar_events"]
EVENTS = RecordTools(
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


def _search_events(
    state: WorkplaceState, page: Any = 1, page_size: Any = PAGE_SIZE, **filters: Any
) -> Any:
    for name in ("time_min", "time_max"):
        refuse_if(_time_problem(name, filters[name]) if filters.get(name) else None)
    first, last = (
        parse_time(filters[name]) if filters.get(name) else limit
        for name, limit in (("time_min", datetime.min), ("time_max", datetime.max))
    )
    texts = ("event_name", "participant_email")
    query = TextFilter(filters.get("query"))
    found = [
        event
        for event in EVENTS.table(state).records
        if any(query.accepts(event[name]) for name in texts)
        and first <= parse_time(event["event_start"]) <= last
    ]
    found.sort(key=lambda event: parse_time(event["event_start"]), reverse=True)
    return paginate("events", found, page, page_size)


def _create_event(state: WorkplaceState, **values: Any) -> Any:
    refuse_unless(values.get("event_name"), "Event name not provided.")
    refuse_unless(values.get("participant_email"), "Participant email not provided.")
    refuse_unless(values.get("event_start"), "Event start not provided.")
    refuse_unless(values.get("duration"), "Event duration not provided.")
    for name, check in EVENTS.checks.items():
        refuse_if(check(state, values[name]))
    return EVENTS.create(state, lower_addresses(values))


EVENT_TOOLS: dict[str, Function] = {
    "calendar_get_event_information_by_id": EVENTS.get,
    "calendar_search_events": _search_events,
    "calendar_create_event": _create_event,
    "calendar_delete_event": EVENTS.delete,
    "calendar_update_event": EVENTS.update,
}
