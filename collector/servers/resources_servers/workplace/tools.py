"""All the tools, and how a call is run on a state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from collector.servers.resources_servers.environment import Call, Tool, ToolError
from collector.servers.resources_servers.workplace.calendar_tools import CALENDAR_TOOLS
from collector.servers.resources_servers.workplace.customer_tools import CUSTOMER_TOOLS
from collector.servers.resources_servers.workplace.email_tools import EMAIL_TOOLS
from collector.servers.resources_servers.workplace.project_tools import PROJECT_TOOLS
from collector.servers.resources_servers.workplace.state import State

TOOLS: tuple[Tool[State], ...] = (*EMAIL_TOOLS, *CALENDAR_TOOLS, *PROJECT_TOOLS, *CUSTOMER_TOOLS)
_BY_NAME = {tool.name: tool for tool in TOOLS}


def run(state: State, call: Call) -> Any:
    """Run one call; raise ToolError if there is no such tool or it refuses."""
    tool = _BY_NAME.get(call.name)
    if tool is None:
        raise ToolError(f"there is no tool {call.name[:100]}")
    try:
        arguments = tool.arguments.model_validate(call.arguments)
    except ValidationError as error:
        raise ToolError(f"wrong arguments for {call.name}: {error}") from error
    return tool.function(state, arguments)


def replay(state: State, calls: Iterable[Call]) -> State:
    """Run calls in order; those that fail change nothing, as in a session."""
    for call in calls:
        try:
            run(state, call)
        except ToolError:
            continue
    return state
