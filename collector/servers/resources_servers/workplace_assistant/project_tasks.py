"""The tools on project tasks, with NeMo Gym's answers."""

from __future__ import annotations

from typing import Any

from collector.servers.resources_servers.workplace_assistant.records import (
    Function,
    RecordTools,
    TextFilter,
    choice_check,
    lower_addresses,
    quote_names,
    refuse_if,
    refuse_unless,
)
from collector.servers.resources_servers.workplace_assistant.tables import COLUMNS, WorkplaceState

LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")


def _assignee(state: WorkplaceState, value: Any) -> str | None:
    team = {task["assigned_to_email"] for task in TASKS.table(state).records}
    if str(value).lower() in team:
        return None
    return "Assignee email not valid. Please choose from the list of team members."


TASKS = RecordTools(
    "project_tasks",
    "Task",
    "task_id",
    "Field not found.",
    COLUMNS["project_tasks"],
    "Field not valid.",
    {
        "assigned_to_email": _assignee,
        "list_name": choice_check(
            LISTS, f"List not valid. Please choose from: {quote_names(LISTS)}."
        ),
        "board": choice_check(
            BOARDS, f"Board not valid. Please choose from: {quote_names(BOARDS)}."
        ),
    },
)


def _search_tasks(state: WorkplaceState, **filters: Any) -> Any:
    refuse_unless(any(filters.values()), "No search parameters provided.")
    address = filters.get("assigned_to_email")
    refuse_unless(
        not address or _is_address(str(address)), "Invalid email format for assigned_to_email."
    )
    wanted = {
        name: TextFilter(value)
        for name, value in filters.items()
        if value and name != "assigned_to_email"
    }
    return [
        task
        for task in TASKS.table(state).records
        if all(text.accepts(task[name]) for name, text in wanted.items())
        and (not address or task["assigned_to_email"] == str(address).lower())
    ]


def _is_address(text: str) -> bool:
    """Tell whether a text is a name, an @, and a domain with a dot inside."""
    name, _, domain = text.partition("@")
    has_blanks = any(map(str.isspace, text))
    return bool(name) and not has_blanks and "@" not in domain and "." in domain[1:-1]


def _create_task(state: WorkplaceState, **values: Any) -> Any:
    names = COLUMNS["project_tasks"][1:]
    refuse_unless(all(values.get(name) for name in names), "Missing task details.")
    for name, check in TASKS.checks.items():
        refuse_if(check(state, values[name]))
    return TASKS.create(state, lower_addresses(values))


TASK_TOOLS: dict[str, Function] = {
    "project_management_get_task_information_by_id": TASKS.get,
    "project_management_search_tasks": _search_tasks,
    "project_management_create_task": _create_task,
    "project_management_delete_task": TASKS.delete,
    "project_management_update_task": TASKS.update,
}
