"""Requests about project tasks."""

from __future__ import annotations

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.company import MAKERS
from collector.servers.resources_servers.workplace.requests import (
    TASK_TITLES,
    Draw,
    Kind,
    Slot,
    Slots,
    status_text,
)
from collector.servers.resources_servers.workplace.state import (
    BOARDS,
    TASK_STATUSES,
    State,
    Task,
)


def _status(draw: Draw) -> Slot:
    status = draw.one(TASK_STATUSES).value
    return Slot(status_text(status), status)


def _state_and_goal(draw: Draw) -> Slots:
    """Draw the status that tasks are in, put as an adjective, and another one."""
    status, goal = (slot.value for slot in draw.two(TASK_STATUSES))
    return {**_in_status(status), "goal": Slot(status_text(goal), goal)}


def _in_status(status: str) -> Slots:
    text = "in the backlog" if status == "backlog" else status_text(status)
    return {"status": Slot(text, status)}


def task_titled(state: State, title: str) -> Task:
    """Return the one task of that title."""
    (task,) = [task for task in state.tasks.rows.values() if task.title == title]
    return task


def task_slot(draw: Draw) -> Slots:
    """Draw a task by its title."""
    return {"task": draw.field(list(draw.state.tasks.rows.values()), "title")}


def _update(task: Task, **values: str) -> Call:
    return Call("project_update", {"task_id": task.id, **values})


def _matching(state: State, slots: Slots) -> list[Task]:
    return [
        task
        for task in state.tasks.rows.values()
        if task.status == slots["status"].value
        and ("who" not in slots or task.assignee == slots["who"].value)
        and ("board" not in slots or task.board == slots["board"].value)
    ]


def create_call(slots: Slots, assignee: str) -> Call:
    """Return the call that creates a task for someone."""
    arguments = {name: slots[name].value for name in ("title", "board", "status")}
    due = slots["when"].value
    return Call("project_create", {**arguments, "assignee": assignee, "due_date": due})


def new_task(draw: Draw) -> Slots:
    """Draw what a new task needs apart from its assignee."""
    return {
        "title": draw.one(TASK_TITLES),
        "board": draw.one(BOARDS),
        "status": _status(draw),
        **draw.day(),
    }


def _set_status(state: State, slots: Slots) -> list[Call]:
    return [_update(task_titled(state, slots["task"].value), status=slots["goal"].value)]


def _set_due(state: State, slots: Slots) -> list[Call]:
    return [_update(task_titled(state, slots["task"].value), due_date=slots["when"].value)]


def _delete(state: State, slots: Slots) -> list[Call]:
    return [Call("project_delete", {"task_id": task_titled(state, slots["task"].value).id})]


def _assign(state: State, slots: Slots) -> list[Call]:
    return [_update(task_titled(state, slots["task"].value), assignee=slots["who"].value)]


def _move_all(state: State, slots: Slots) -> list[Call]:
    return [_update(task, status=slots["goal"].value) for task in _matching(state, slots)]


def _delete_all(state: State, slots: Slots) -> list[Call]:
    return [Call("project_delete", {"task_id": task.id}) for task in _matching(state, slots)]


def _reassign_all(state: State, slots: Slots) -> list[Call]:
    return [_update(task, assignee=slots["to"].value) for task in _matching(state, slots)]


def _postpone_all(state: State, slots: Slots) -> list[Call]:
    return [_update(task, due_date=slots["when"].value) for task in _matching(state, slots)]


def _two_makers(draw: Draw) -> Slots:
    return dict(zip(("who", "to"), draw.two_people(MAKERS), strict=True))


PROJECT_KINDS = (
    Kind(
        "project",
        (
            'Create a task "{title}" for {who} on the {board} board, due {when}, with the status '
            "{status}.",
            'Add "{title}" to the {board} board as a task for {who}; it is due {when} and its '
            "status is {status}.",
        ),
        1,
        lambda draw: {"who": draw.person(MAKERS), **new_task(draw)},
        lambda _, slots: [create_call(slots, slots["who"].value)],
    ),
    Kind(
        "project",
        (
            'Change the status of the task "{task}" to {goal}.',
            'Set the task "{task}" to {goal}.',
            'Mark the task "{task}" as {goal}.',
        ),
        1,
        lambda draw: {**task_slot(draw), "goal": _status(draw)},
        _set_status,
    ),
    Kind(
        "project",
        (
            'Move the due date of the task "{task}" to {date}.',
            'The task "{task}" is now due {when}, so change its due date.',
        ),
        1,
        lambda draw: {**task_slot(draw), **draw.day()},
        _set_due,
    ),
    Kind(
        "project",
        ('Delete the task "{task}".', 'Take the task "{task}" off its board for good.'),
        1,
        task_slot,
        _delete,
    ),
    Kind(
        "project",
        ('Assign the task "{task}" to {who}.', 'Let {who} take over the task "{task}".'),
        2,
        lambda draw: {**task_slot(draw), "who": draw.person(MAKERS)},
        _assign,
    ),
    Kind(
        "project",
        (
            "Move all of {who}'s tasks that are {status} to {goal}.",
            "Set every task of {who} that is {status} to {goal}.",
        ),
        2,
        lambda draw: {"who": draw.person(MAKERS), **_state_and_goal(draw)},
        _move_all,
    ),
    Kind(
        "project",
        (
            "Delete every task of {who} that is {status}.",
            "Remove all of {who}'s tasks that are {status}.",
        ),
        2,
        lambda draw: {"who": draw.person(MAKERS), **_state_and_goal(draw)},
        _delete_all,
    ),
    Kind(
        "project",
        (
            "Reassign all of {who}'s tasks that are {status} to {to}.",
            "Hand every task of {who} that is {status} over to {to}.",
        ),
        3,
        lambda draw: {**_two_makers(draw), **_state_and_goal(draw)},
        _reassign_all,
    ),
    Kind(
        "project",
        (
            "Set the due date of every task on the {board} board that is {status} to {date}.",
            "All tasks on the {board} board that are {status} are now due {when}, so change "
            "their due dates.",
        ),
        1,
        lambda draw: {"board": draw.one(BOARDS), **_state_and_goal(draw), **draw.day()},
        _postpone_all,
    ),
)
