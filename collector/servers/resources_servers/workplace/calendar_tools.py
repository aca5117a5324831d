"""The tools around the calendar."""

from __future__ import annotations

import dataclasses
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace.arguments import (
    Address,
    Day,
    Minute,
    Minutes,
    Text,
    WorkArguments,
    colleague,
    is_same,
    listed,
    mentions,
    within,
)
from collector.servers.resources_servers.workplace.state import Event, State

Row = dict[str, Any]


class SearchEvents(WorkArguments):
    """Which events to look for."""

    query: str | None = None
    participant: Address | None = None
    date_from: Day | None = None
    date_to: Day | None = None


class CreateEvent(WorkArguments):
    """A new event."""

    title: Text
    participant: Address
    start: Minute
    duration_minutes: Minutes


class UpdateEvent(WorkArguments):
    """What to change about an event."""

    event_id: str
    title: Text | None = None
    participant: Address | None = None
    start: Minute | None = None
    duration_minutes: Minutes | None = None


class DeleteEvent(WorkArguments):
    """An event to delete."""

    event_id: str


def search_events(state: State, given: SearchEvents) -> Row:
    """List events, the earliest first."""
    found = [
        event
        for event in state.events.rows.values()
        if mentions(given.query, event.title)
        and is_same(given.participant, event.participant)
        and within(event.start, given.date_from, given.date_to)
    ]
    return listed("events", sorted(found, key=lambda event: (event.start, event.id)))


def create_event(state: State, given: CreateEvent) -> Row:
    """Put an event into the calendar."""
    colleague(given.participant)
    return dataclasses.asdict(state.events.add(Event(id="", **given.model_dump())))


def update_event(state: State, given: UpdateEvent) -> Row:
    """Change an event."""
    colleague(given.participant)
    values = given.model_dump(exclude={"event_id"})
    return dataclasses.asdict(state.events.update(given.event_id, values))


def delete_event(state: State, given: DeleteEvent) -> Row:
    """Delete an event."""
    return {"deleted": state.events.remove(given.event_id).id}


CALENDAR_TOOLS: tuple[Tool[State], ...] = (
    Tool(
        "calendar_search",
        "Search the calendar, earliest first; dates are inclusive. At most 20 results.",
        SearchEvents,
        search_events,
    ),
    Tool("calendar_create", "Create an event.", CreateEvent, create_event),
    Tool("calendar_update", "Change an event; null keeps a field.", UpdateEvent, update_event),
    Tool("calendar_delete", "Delete an event.", DeleteEvent, delete_event),
)
