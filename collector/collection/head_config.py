"""The head server's config: which servers there are, and which agent belongs to which server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from collector import yaml_values
from collector.collection.settings.connection import HeadAddress
from collector.errors import ServerError, UsageError
from collector.gym_client import ClientError, GymClient

HEAD_SECONDS = 10.0
AGENTS = "responses_api_agents"
ENVIRONMENTS = "environment_servers"
RESOURCES = "resources_servers"
OBSERVED = "observability_enabled"
ANY_HOST = ("0.0.0.0", "::", "")  # noqa: S104 - servers listen on these, the collector does not


@dataclass(frozen=True)
class HeadConfig:
    """The whole config, with API keys in plain text: never quote a part of it."""

    content: dict[str, Any]
    head_host: str

    def names(self, *kinds: str) -> list[str]:
        """Return the names of all servers of these kinds."""
        return [
            name
            for name, server in self.content.items()
            if isinstance(name, str)
            and isinstance(server, dict)
            and any(kind in server for kind in kinds)
        ]

    def url(self, name: str) -> httpx.URL | None:
        """Return the address of an agent or environment server, if the config has one."""
        own = self._address(name, AGENTS) or self._address(name, ENVIRONMENTS)
        fronts = [] if own else self._fronts(name)
        return own or (self._address(fronts[0], ENVIRONMENTS) if len(fronts) == 1 else None)

    def behind(self, server: str) -> str | None:
        """Return the one agent behind an environment server."""
        agents = self._agents_behind(server)
        return str(agents[0]["name"]) if len(agents) == 1 else None

    def verifier_of(self, name: str) -> str | None:
        """Return the resources server of an agent or environment server.

        Without any agent in the config, it is the only resources server there is.
        """
        own = _name(self._settings(name, ENVIRONMENTS).get("resources_server"))
        agent = name if name in self.names(AGENTS) else self.behind(name)
        found = own or (
            _name(self._settings(agent, AGENTS).get("resources_server")) if agent else None
        )
        verifiers = self.names(RESOURCES)
        if found or self.names(AGENTS) or len(verifiers) != 1:
            return found
        return verifiers[0]

    def verifier_url(self, name: str) -> httpx.URL | None:
        """Return the address of a resources server, if the config has one."""
        return self._address(name, RESOURCES)

    def of_source(self, name: str) -> str:
        """Return the agent that runs the rows of a task source; raise UsageError without one."""
        if name in self.names(AGENTS):
            agents = self._dataset_agents(name, AGENTS) or [name]
        else:
            agents = self._dataset_agents(name, RESOURCES) or [
                agent
                for agent in self.names(AGENTS)
                if _name(self._settings(agent, AGENTS).get("resources_server")) == name
            ]
        if len(agents) != 1:
            named = f"{len(agents)} agents belong" if agents else "no agent belongs"
            raise UsageError(
                f"{named} to {name} in the head server's config"
                f"{': ' + ', '.join(sorted(agents)) if agents else ''}\n"
                f"  what to do: say who runs its rows with agent_map={{{name}: AGENT}}"
            )
        return agents[0]

    def capturing_servers(self, called: Iterable[str]) -> list[str]:
        """Return the servers that write captures: all called ones, if it is set for all."""
        if self.content.get(OBSERVED) is True:
            return list(called)
        return [
            name
            for name, server in self.content.items()
            if isinstance(name, str)
            and any(
                isinstance(part, dict) and part.get(OBSERVED) is True
                for _, part in yaml_values.walk(server)
            )
        ]

    def _fronts(self, agent: str) -> list[str]:
        """Return the environment servers that relay to an agent."""
        return [
            name
            for name in self.names(ENVIRONMENTS)
            if any(reference["name"] == agent for reference in self._agents_behind(name))
        ]

    def _agents_behind(self, server: str) -> list[dict[str, Any]]:
        settings = self._settings(server, ENVIRONMENTS)
        found = {
            field: reference
            for field, reference in settings.items()
            if _name(reference) is not None
            and (reference.get("type") == AGENTS or field == "agent_server")
        }
        main = found.get("agent_server")
        return [main] if main else list(found.values())

    def _dataset_agents(self, name: str, kind: str) -> list[str]:
        """Return the agents that a server's datasets name."""
        datasets = self._settings(name, kind).get("datasets")
        entries = datasets if isinstance(datasets, list) else []
        agents = [entry.get("agent") for entry in entries if isinstance(entry, dict)]
        return list(dict.fromkeys(agent for agent in agents if isinstance(agent, str)))

    def _settings(self, name: str, kind: str) -> dict[str, Any]:
        server = self.content.get(name)
        group = server.get(kind) if isinstance(server, dict) else None
        if not isinstance(group, dict) or len(group) != 1:
            return {}
        (settings,) = group.values()
        return settings if isinstance(settings, dict) else {}

    def _address(self, name: str, kind: str) -> httpx.URL | None:
        settings = self._settings(name, kind)
        host, digits = settings.get("host"), str(settings.get("port"))
        if not isinstance(host, str) or "${" in host or not (digits.isascii() and digits.isdigit()):
            return None
        # a server that listens on every address is on the head server's host
        reachable = self.head_host if host in ANY_HOST else host
        try:
            return httpx.URL(scheme="http", host=reachable, port=int(digits))
        except httpx.InvalidURL:
            return None


async def fetch_head_config(address: HeadAddress, client: GymClient) -> HeadConfig:
    """Ask the head server for its config; raise ServerError if it does not answer with one."""
    url = httpx.URL(
        scheme="http",
        host=address.head_host,
        port=address.head_port,
        path="/global_config_dict_yaml",
    )
    head = url.copy_with(path="/")
    advice = (
        "\n  what to do: start the servers with `spotter run`, say where the head server is with"
        " --head-port, or name agents with --agent-url NAME=http://…"
    )
    try:
        reply = await client.get(url, timeout=HEAD_SECONDS)
    except ClientError as error:
        raise ServerError(f"no head server at {head}: {error}{advice}") from error
    if reply.status == httpx.codes.MISDIRECTED_REQUEST:
        raise ServerError(
            f"the head server does not serve the host name {address.head_host}\n"
            "  what to do: give an IP address with --head-host, or add the name to allowed_hosts in"
            " the servers' config"
        )
    if reply.status != httpx.codes.OK:
        raise ServerError(f"the head server answered {reply.status} at {url}{advice}")
    config = _parse_config(reply.body)
    if config is None:
        raise ServerError(f"{url} does not answer with a JSON string that holds a YAML map{advice}")
    return HeadConfig(config, address.head_host)


def _parse_config(body: bytes) -> dict[str, Any] | None:
    try:
        text = orjson.loads(body)
        config = yaml_values.parse(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return config if isinstance(config, dict) else None


def _name(reference: Any) -> str | None:
    name = reference.get("name") if isinstance(reference, dict) else None
    return name if isinstance(name, str) else None


def capture_warnings(config: HeadConfig | None, called: Iterable[str]) -> Iterator[str]:
    """Yield a warning about captures that only NeMo Gym's collector merges into its rollouts."""
    if config and (names := config.capturing_servers(called)):
        yield (
            f"warning: observability_enabled is set for {', '.join(sorted(names))}: these servers"
            " write captures that only NeMo Gym's own collector merges into the rollouts, so its"
            " health check would call every rollout of this run unhealthy"
        )
