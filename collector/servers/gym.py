"""Start the servers of a config, and stop them again."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.types import ASGIApp

from collector.bundled_files import ORIGIN
from collector.errors import ServerError, UsageError
from collector.http_server import Connections, LimitedServer
from collector.open_files import allow_connections
from collector.servers.config import HEAD, ServerConfig, head_address, server_configs
from collector.servers.head import Instance, head_app
from collector.servers.implementations import load_environment, load_model, refuse_nemo_gym_program
from collector.servers.protection import Protection
from collector.servers.relays import AGENTS, add_relays
from collector.servers.resources_servers.server import DEFAULT_SESSION_SECONDS, ResourcesServer
from collector.servers.resources_servers.timed_calls import DEFAULT_CALL_SECONDS
from collector.servers.responses_api_agents.simple_agent import SimpleAgent, SimpleAgentSettings
from collector.servers.responses_api_models.server import model_app
from collector.suggestions import suggestion
from collector.validation import problems_of

Row = dict[str, Any]
MOST_CONNECTIONS = 16_384
SHARED_FIELDS = ("host", "port", "entrypoint", "domain", ORIGIN)
KNOWN_FIELDS = {
    "simple_agent": (
        *("max_steps", "request_timeout", "resources_server", "model_server", "datasets"),
    ),
    "simulated_model": (
        *("seed", "tasks", "slip_rate", "latency", "model_name"),
        *("failure_rate", "hang_rate", "mask_rate"),
    ),
    "openai_model": (
        *("openai_base_url", "openai_api_key", "openai_model", "api"),
        *("request_timeout", "max_retries"),
    ),
    "workplace_assistant": ("session_timeout", "call_timeout", "data_dir"),
    "arithmetic": ("session_timeout", "call_timeout"),
}
STOP_SECONDS = 5.0


@dataclass
class Gym:
    """The running servers of a config."""

    head: Instance
    instances: list[Instance]
    notes: dict[str, str]
    """Remarks of servers about themselves, by server name."""
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def wait_for_crash(self) -> None:
        """Wait until a server ends by itself, then raise ServerError."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if error := task.exception():
                raise ServerError(f"{task.get_name()} crashed: {error}") from error
            raise ServerError(f"{task.get_name()} stopped by itself")


@contextlib.asynccontextmanager
async def running_gym(config: Row) -> AsyncIterator[Gym]:
    """Start every server of a resolved config and the head server; stop them on exit."""
    servers = server_configs(config)
    head_host, head_port = head_address(config)
    with contextlib.ExitStack() as stack:
        sockets = {
            server.name: stack.enter_context(
                _listening_socket(server.name, server.host, server.port)
            )
            for server in servers
        }
        head_socket = stack.enter_context(
            _listening_socket("the head server", head_host, head_port)
        )
        instances = [_instance(server, sockets[server.name]) for server in servers]
        _write_addresses(config, instances)
        apps = {server.name: _build_app(server, instances) for server in servers}
        head = Instance(HEAD, HEAD, "head", head_host, _bound_port(head_socket))
        config[HEAD] = {"host": head.host, "port": head.port}
        sockets[HEAD] = head_socket
        connections = Connections(_most_connections())
        protection = Protection.of_config(config, [head_host, *(one.host for one in instances)])
        running = [
            _GymServer(protection.wrap(app, name), sockets[name], name, connections)
            for name, app in {**apps, HEAD: head_app(config, instances)}.items()
        ]
        stack.enter_context(protection.redacted_logs())
        tasks = [asyncio.create_task(server.run(), name=server.name) for server in running]
        try:
            await asyncio.gather(*(server.wait_until_started() for server in running))
            notes = {name: getattr(app.state, "note", "") for name, app in apps.items()}
            yield Gym(head, instances, notes, tasks)
        finally:
            for server in running:
                server.stop()
            _, left = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in left:
                task.cancel()


class _GymServer(LimitedServer):
    def __init__(
        self, app: ASGIApp, listening: socket.socket, name: str, connections: Connections
    ) -> None:
        super().__init__(app, connections, timeout_graceful_shutdown=2)
        self.name = name
        self._listening = listening

    async def run(self) -> None:  # type: ignore[override]  # uvicorn's starts a loop
        await self.serve(sockets=[self._listening])

    async def wait_until_started(self) -> None:
        while not self.started and not self.should_exit:
            await asyncio.sleep(0.01)

    def stop(self) -> None:
        self.should_exit = True


def _most_connections() -> int:
    """Return the limit for all servers together.

    A rollout takes a connection to the agent, and one to the model and one to the environment with
    both their ends in this process: five open files, three of which belong to servers.
    """
    return max(1, allow_connections(MOST_CONNECTIONS) * 3 // 5)


@contextlib.contextmanager
def _listening_socket(name: str, host: str, port: int) -> Iterator[socket.socket]:
    """Bind a port before any server starts, so that a port in use is a clear error."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # given the protocol, asyncio turns off Nagle's algorithm, which costs 40 ms per request
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
        except (TypeError, ValueError) as error:
            raise UsageError(f"{name} cannot listen on {host!r}: not a valid host name") from error
        except OSError as error:
            raise ServerError(
                f"{name} cannot listen on {host}:{port}: {error.strerror}\n"
                "  what to do: check with `spotter status` whether a gym is already running there."
                " Stop it, or choose another port (for the head server with --head-port)"
            ) from error
        bound.listen()
        yield bound


def _bound_port(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port


def _instance(server: ServerConfig, listening: socket.socket) -> Instance:
    return Instance(
        server.name, server.kind, server.implementation, server.host, _bound_port(listening)
    )


def _write_addresses(config: Row, instances: list[Instance]) -> None:
    """Write the chosen ports into the config, where collectors look for them."""
    for instance in instances:
        implementations = config[instance.name][instance.kind]
        settings = implementations[instance.implementation] or {}
        implementations[instance.implementation] = {**settings, **instance.address}
    agents = {one.name: one.address for one in instances if one.kind == AGENTS}
    add_relays(config, agents)


def _build_app(server: ServerConfig, instances: list[Instance]) -> Starlette:
    refuse_nemo_gym_program(server)
    _refuse_misspelt(server)
    try:
        if server.kind == "resources_servers":
            environment = load_environment(server.implementation, server.settings)
            resources = ResourcesServer(
                server.name,
                environment,
                session_seconds=_seconds(server, "session_timeout", DEFAULT_SESSION_SECONDS),
                call_seconds=_seconds(server, "call_timeout", DEFAULT_CALL_SECONDS),
            )
            app = resources.app()
            app.state.note = environment.description()
            return app
        if server.kind == "responses_api_models":
            return model_app(server.name, load_model(server))
        return _build_agent(server, instances).app()
    except ValidationError as error:
        found = "; ".join(problems_of(error, SimpleAgentSettings))
        raise UsageError(f"{server.name}: {found}") from error
    except ValueError as error:
        raise UsageError(f"{server.name}: {error}") from error


def _seconds(server: ServerConfig, name: str, default: float) -> float:
    value = server.settings.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name} must be a positive number of seconds")
    return float(value)


def _refuse_misspelt(server: ServerConfig) -> None:
    """Refuse a setting whose name resembles a known one; other unknown names are allowed.

    NeMo Gym's configs have settings that Spotter does not use.
    """
    known = [*SHARED_FIELDS, *KNOWN_FIELDS.get(server.implementation, ())]
    for name in server.settings:
        guess = suggestion(str(name), known, cutoff=0.8)
        if name not in known and guess:
            raise UsageError(f"{server.name}: unknown setting {name}{guess}")


def _build_agent(server: ServerConfig, instances: list[Instance]) -> SimpleAgent:
    if server.implementation != "simple_agent":
        raise UsageError(
            f"{server.name}: unknown agent {server.implementation} (there is: simple_agent)"
        )
    urls = {instance.name: httpx.URL(_url_to_call(instance)) for instance in instances}
    return SimpleAgent(
        server.name,
        SimpleAgentSettings.model_validate(server.settings),
        model=urls[server.reference("model_server")],
        resources=urls[server.reference("resources_server")],
    )


def _url_to_call(instance: Instance) -> str:
    """Return the URL to call; a server that listens on all addresses is called on loopback."""
    return instance.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
