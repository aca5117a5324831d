"""The tools around project tasks."""

from __future__ import annotations

import dataclasses
from typing import Any

from collector.servers.resources_servers.environment import Tool
from collector.servers.resources_servers.workplace.arguments import (
    Address,
    Day,
    Text,
    WorkArguments,
    colleague,
    is_same,
    listed,
    mentions,
)
from collector.servers.resources_servers.workplace.state import Board, State, Task, TaskStatus

Row = dict[str, Any]


class SearchTasks(WorkArguments):
    """Which tasks to look for."""

    query: str | None = None
    assignee: Address | None = None
    board: Board | None = None
    status: TaskStatus | None = None


class CreateTask(WorkArguments):
    """A new task."""

    title: Text
    assignee: Address
    board: Board
    status: TaskStatus
    due_date: Day


class UpdateTask(WorkArguments):
    """What to change about a task."""

    task_id: str
    title: Text | None = None
    assignee: Address | None = None
    board: Board | None = None
    status: TaskStatus | None = None
    due_date: Day | None = None


class DeleteTask(WorkArguments):
    """A task to delete."""

    task_id: str


def search_tasks(state: State, given: SearchTasks) -> Row:
    """List tasks by due date."""
    found = [
        task
        for task in state.tasks.rows.values()
        if mentions(given.query, task.title)
        and is_same(given.assignee, task.assignee)
        and is_same(given.board, task.board)
        and is_same(given.status, task.status)
    ]
    return listed("tasks", sorted(found, key=lambda task: (task.due_date, task.id)))


def create_task(state: State, given: CreateTask) -> Row:
    """Put a task on a board."""
    colleague(given.assignee)
    return dataclasses.asdict(state.tasks.add(Task(id="", **given.model_dump())))


def update_task(state: State, given: UpdateTask) -> Row:
    """Change a task."""
    colleague(given.assignee)
    values = given.model_dump(exclude={"task_id"})
    return dataclasses.asdict(state.tasks.update(given.task_id, values))


def delete_task(state: State, given: DeleteTask) -> Row:
    """Delete a task."""
    return {"deleted": state.tasks.remove(given.task_id).id}


PROJECT_TOOLS: tuple[Tool[State], ...] = (
    Tool(
        "project_search",
        "Search project tasks, by due date; null leaves a filter out. At most 20 results.",
        SearchTasks,
        search_tasks,
    ),
    Tool("project_create", "Create a task.", CreateTask, create_task),
    Tool("project_update", "Change a task; null keeps a field.", UpdateTask, update_task),
    Tool("project_delete", "Delete a task.", DeleteTask, delete_task),
)
