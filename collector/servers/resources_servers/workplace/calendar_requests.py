"""Requests about the calendar."""

from __future__ import annotations

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.company import NOW, PEOPLE
from collector.servers.resources_servers.workplace.requests import (
    MEETING_TITLES,
    Draw,
    Kind,
    Slots,
)
from collector.servers.resources_servers.workplace.state import Event, State

OTHERS = PEOPLE[1:]


def _upcoming(state: State) -> list[Event]:
    now = NOW.isoformat(timespec="minutes")
    events = [event for event in state.events.rows.values() if event.start > now]
    return sorted(events, key=lambda event: event.start)


def _titled(state: State, slots: Slots) -> Event:
    (event,) = [
        event for event in state.events.rows.values() if event.title == slots["event"].value
    ]
    return event


def _with(state: State, slots: Slots) -> list[Event]:
    return [event for event in _upcoming(state) if event.participant == slots["who"].value]


def _event(draw: Draw) -> Slots:
    return {"event": draw.field(_upcoming(draw.state), "title")}


def start_of(slots: Slots) -> str:
    """Return the start that a day and a time make."""
    return f"{slots['when'].value}T{slots['time'].value}"


def _schedule(_: State, slots: Slots) -> list[Call]:
    arguments = {
        "title": slots["title"].value,
        "participant": slots["who"].value,
        "start": start_of(slots),
        "duration_minutes": slots["minutes"].value,
    }
    return [Call("calendar_create", arguments)]


def _move(state: State, slots: Slots) -> list[Call]:
    event = _titled(state, slots)
    return [Call("calendar_update", {"event_id": event.id, "start": start_of(slots)})]


def _resize(state: State, slots: Slots) -> list[Call]:
    return [_resized(_titled(state, slots), slots)]


def _resized(event: Event, slots: Slots) -> Call:
    minutes = slots["minutes"].value
    return Call("calendar_update", {"event_id": event.id, "duration_minutes": minutes})


def _cancel(state: State, slots: Slots) -> list[Call]:
    return _cancelled([_titled(state, slots)])


def _cancelled(events: list[Event]) -> list[Call]:
    return [Call("calendar_delete", {"event_id": event.id}) for event in events]


def _cancel_next(state: State, slots: Slots) -> list[Call]:
    return _cancelled(_with(state, slots)[:1])


def _move_next(state: State, slots: Slots) -> list[Call]:
    return [
        Call("calendar_update", {"event_id": event.id, "start": start_of(slots)})
        for event in _with(state, slots)[:1]
    ]


def _cancel_day(state: State, slots: Slots) -> list[Call]:
    day = slots["when"].value
    return _cancelled([event for event in _upcoming(state) if event.start.startswith(day)])


def _cancel_all(state: State, slots: Slots) -> list[Call]:
    return _cancelled(_with(state, slots))


def _resize_all(state: State, slots: Slots) -> list[Call]:
    return [_resized(event, slots) for event in _with(state, slots)]


def _meeting_day(draw: Draw) -> Slots:
    today = NOW.date().isoformat()  # what is left of today would hang on the time
    days = {event.start[:10] for event in _upcoming(draw.state)} - {today}
    return draw.day_of(sorted(days))


CALENDAR_KINDS = (
    Kind(
        "calendar",
        (
            'Schedule a meeting called "{title}" with {who} {when} at {time} for {minutes} '
            "minutes.",
            'Put "{title}" with {who} in my calendar, {when} at {time}, {minutes} minutes long.',
            'Book {minutes} minutes with {who} {when} at {time} and call it "{title}".',
        ),
        1,
        lambda draw: {
            "title": draw.one(MEETING_TITLES),
            "who": draw.person(OTHERS),
            "time": draw.clock(),
            "minutes": draw.minutes(),
            **draw.day(),
        },
        _schedule,
    ),
    Kind(
        "calendar",
        (
            'Move the meeting "{event}" to {date} at {time}.',
            'Reschedule the meeting "{event}" to {date}, {time}.',
            'Shift the meeting "{event}": it now starts {when} at {time}.',
        ),
        1,
        lambda draw: {**_event(draw), "time": draw.clock(), **draw.day()},
        _move,
    ),
    Kind(
        "calendar",
        (
            'Make the meeting "{event}" {minutes} minutes long.',
            'Change the duration of the meeting "{event}" to {minutes} minutes.',
        ),
        1,
        lambda draw: {**_event(draw), "minutes": draw.minutes()},
        _resize,
    ),
    Kind(
        "calendar",
        (
            'Cancel the meeting "{event}".',
            'Delete the meeting "{event}" from my calendar.',
            'The meeting "{event}" is off, so take it out of my calendar.',
        ),
        1,
        _event,
        _cancel,
    ),
    Kind(
        "calendar",
        ("Cancel my next meeting with {who}.", "Call off the next meeting I have with {who}."),
        2,
        lambda draw: {"who": draw.person(OTHERS)},
        _cancel_next,
    ),
    Kind(
        "calendar",
        (
            "Move my next meeting with {who} to {date} at {time}.",
            "Reschedule the next meeting I have with {who}: it should start {when} at {time}.",
        ),
        2,
        lambda draw: {"who": draw.person(OTHERS), "time": draw.clock(), **draw.day()},
        _move_next,
    ),
    Kind(
        "calendar",
        ("Cancel all my meetings {when}.", "I am away {when}, so cancel every meeting that day."),
        1,
        _meeting_day,
        _cancel_day,
    ),
    Kind(
        "calendar",
        (
            "Cancel every upcoming meeting with {who}.",
            "Call off all the meetings with {who} that are still to come.",
        ),
        2,
        lambda draw: {"who": draw.person(OTHERS)},
        _cancel_all,
    ),
    Kind(
        "calendar",
        (
            "Make every upcoming meeting with {who} {minutes} minutes long.",
            "Change the duration of all upcoming meetings with {who} to {minutes} minutes.",
        ),
        2,
        lambda draw: {"who": draw.person(OTHERS), "minutes": draw.minutes()},
        _resize_all,
    ),
)
