"""Environment servers: the config entries through which NeMo Gym 0.7 reaches an agent.

In NeMo Gym these are separate servers that relay `/run` to the agent. Spotter's agents answer
`/run` themselves, so Spotter writes the agent's address into the entry and starts no extra server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from collector.errors import UsageError

Row = dict[str, Any]
KIND = "environment_servers"
RELAY = "legacy_agent"
AGENTS = "responses_api_agents"


def check_relays(config: Mapping[str, Any], agents: Collection[str]) -> None:
    """Refuse an environment server that is anything but another name for an agent of the config."""
    for name, settings in _relays(config):
        agent = _agent_name(settings)
        if agent not in agents:
            raise UsageError(
                f"{name}: its agent_server must refer to an agent of the config, like"
                f" {{type: {AGENTS}, name: …}} (there are: {', '.join(sorted(agents)) or 'none'})"
            )
        if settings.get("host") or settings.get("port"):
            raise UsageError(f"{name}: remove its host and port: the agent {agent} answers for it")


def add_relays(config: Row, addresses: Mapping[str, Row]) -> None:
    """Add an environment server with the agent's own address to the config for every agent."""
    relayed = set()
    for _, settings in _relays(config):
        agent = _agent_name(settings)
        settings.update(addresses[agent])
        relayed.add(agent)
    for agent in addresses:
        if agent not in relayed:
            reference = {"type": AGENTS, "name": agent}
            settings = {"agent_server": reference, **addresses[agent]}
            config[_free_name(config, agent)] = {KIND: {RELAY: settings}}


def _relays(config: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    for name, server in config.items():
        implementations = server.get(KIND) if isinstance(server, dict) else None
        if implementations is None:
            continue
        if not isinstance(implementations, dict) or list(implementations) != [RELAY]:
            raise UsageError(
                f"{name}: the only environment server here is {RELAY}, which stands for an agent\n"
                "  what to do: run other environment servers with NeMo Gym, and collect from there"
            )
        settings = implementations[RELAY]
        yield name, settings if isinstance(settings, dict) else {}


def _agent_name(settings: Row) -> str:
    reference = settings.get("agent_server")
    return str(reference.get("name")) if isinstance(reference, dict) else ""


def _free_name(config: Row, agent: str) -> str:
    name = f"{agent}_environment_server"
    while name in config:
        name += "_environment_server"
    return name
