"""Decide which servers run an input row: agents, or an environment server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from collector.collection.problems import UnusableRowError
from collector.collection.settings.rows import DEFAULT, RowSettings

Row = dict[str, Any]
AGENT = "agent_ref"
SOURCE = "task_source"
SERVER = "_ng_environment_server"


@dataclass(frozen=True)
class Route:
    """Where one row goes."""

    key: str | None
    """The name in the row itself: its agent, else its task source or taskset."""
    targets: Sequence[str]
    """The servers that run the row, in order."""
    server: str | None = None
    """The environment server, if the row goes to one."""
    is_late: bool = False
    """Whether only the head server's config names the agent: it becomes the last field."""


class Agents(Protocol):
    """Finds the agents that rows do not name."""

    def of_source(self, source: str) -> str | None:
        """Return the agent that runs the rows of a task source."""

    def behind(self, server: str) -> str | None:
        """Return the one agent behind an environment server."""


class NoAgents:
    """Finds no agent: there is no head server to ask."""

    def of_source(self, _: str) -> None:
        """Find no agent."""

    def behind(self, _: str) -> None:
        """Find no agent."""


class Router:
    """Routes the rows of one input, and counts the agents that it replaces."""

    def __init__(
        self, settings: RowSettings, agents: Agents, *, keeps_own_agents: bool = False
    ) -> None:
        """Take the settings, and a way to ask for agents that rows do not name.

        With `keeps_own_agents`, the default agent is only for rows without one, as before NeMo
        Gym 0.6.
        """
        self._settings = settings
        self._agents_by_name = settings.agents_by_name
        self._keeps_own_agents = keeps_own_agents
        self.agents = agents
        self.keys: set[str] = set()
        self.overridden: Counter[tuple[str, str]] = Counter()
        """Rows by the agent they name and the agent they are sent to instead."""

    def route(self, row: Row) -> Route:
        """Return where a row goes; write the agent into the row if the settings name one."""
        route = self._environment_route(row) or self._agent_route(row)
        if route.key is not None:
            self.keys.add(route.key)
        return route

    def _environment_route(self, row: Row) -> Route | None:
        settings = self._settings
        if (taskset := taskset_of(row)) is not None:
            server = settings.environment_server_routes.get(taskset)
            if server is None:
                raise UnusableRowError(
                    f"no environment server for taskset {taskset}",
                    f"give environment_server_routes={{{taskset}: SERVER}}",
                )
            return Route(taskset, (server,), server)
        if settings.environment_routing_mode == "agent":
            return None
        server = settings.environment_server_name
        if settings.environment_routing_mode == "taskset" or server is None:
            raise UnusableRowError(
                "not a row of a taskset (no task_id with a taskset, and task_input)",
                "environment_routing_mode=taskset takes only those; leave it out to mix them",
            )
        return Route(_text(row, SOURCE) or server, (server,), server, is_late=True)

    def _agent_route(self, row: Row) -> Route:
        own, source = own_agent(row), _text(row, SOURCE)
        key = own if own is not None else source
        agent = self._map_agent(row, own, source)
        if key is not None and key in self._settings.fan_out:
            return Route(key, self._settings.fan_out[key])
        if agent is not None:
            return Route(key, (agent,))
        late_agent = self.agents.of_source(source) if source is not None else None
        if late_agent is None:
            raise UnusableRowError(
                "no agent",
                "give agent_name (--agent-name) or agent_map with a _default, or put an agent_ref"
                " into the rows",
            )
        return Route(key, (late_agent,), is_late=True)

    def _map_agent(self, row: Row, own: str | None, source: str | None) -> str | None:
        table = self._agents_by_name
        named = [name for name in (own, source) if name is not None and name in table]
        agent = table[named[0]] if named else table.get(DEFAULT)
        if agent is None or (own is not None and self._keeps_own_agents):
            return own
        if own is not None and own != agent:
            self.overridden[own, agent] += 1
        row[AGENT] = {"name": agent}
        return agent


def own_agent(row: Row) -> str | None:
    """Return the agent that a row names; raise UnusableRowError if that is not a name."""
    reference = row.get(AGENT)
    if reference is None:
        return None
    name = reference.get("name") if isinstance(reference, dict) else reference
    if name is None:
        return None
    if not isinstance(reference, dict) or not isinstance(name, str) or not name:
        raise UnusableRowError("no agent: agent_ref is not an object with a name")
    return name


def taskset_of(row: Row) -> str | None:
    """Return the taskset of a row that is a task of one, else None."""
    task = row.get("task_id")
    if not isinstance(task, dict) or "task_input" not in row:
        return None
    taskset = task.get("taskset")
    return taskset if isinstance(taskset, str) and taskset else None


def target_of(row: Row) -> str | None:
    """Return the server that ran or runs a row: its environment server, else its agent."""
    return _text(row, SERVER) or agent_name_of(row)


def label_of(row: Row) -> str | None:
    """Return the name under which a row is counted: its agent, else its environment server."""
    return agent_name_of(row) or _text(row, SERVER)


def agent_name_of(row: Row) -> str | None:
    """Return the agent that a materialized row or a rollout names, if any."""
    reference = row.get(AGENT)
    name = reference.get("name") if isinstance(reference, dict) else None
    return name if isinstance(name, str) and name else None


def _text(row: Row, name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and value else None
