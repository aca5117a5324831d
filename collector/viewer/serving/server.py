"""Runs the viewer's HTTP server: binds a port, opens a browser, and stops on a signal."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.applications import Starlette

from collector.errors import ServerError, UsageError
from collector.http_server import Connections, LimitedServer
from collector.open_files import allow_connections
from collector.terminal import write_error
from collector.viewer.guard import TARGET_BYTES, Guard

PORT = 7860
PORTS = range(PORT, PORT + 20)
HOST = "127.0.0.1"
# browsers open six at once; more tabs and people take turns
MOST_CONNECTIONS = 256
NAME_SECONDS = 1.0
STOP_SECONDS = 1
ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 - to recognize them


@dataclass(frozen=True)
class BoundAddress:
    """The socket that the viewer listens on, with its address, host names and token."""

    listening: socket.socket
    host: str
    """The address, such as 127.0.0.1 or ::1."""
    port: int
    names: frozenset[str]
    token: str | None

    @property
    def guard(self) -> Guard:
        """Return the guard that accepts only requests to this address."""
        return Guard(port=self.port, names=self.names, token=self.token)

    def url(self, path: str = "/", *, with_token: bool = False) -> str:
        """Return the URL of a path, for a browser."""
        host = socket.gethostname() if self.host in ALL_INTERFACES else self.host
        query = urlencode({"token": self.token}) if with_token and self.token else ""
        separator = ("&" if "?" in path else "?") if query else ""
        return f"http://{_bracket_ipv6(host)}:{self.port}{path}{separator}{query}"


def bind_address(
    host: str = HOST, port: int | None = None, *, is_remote: bool = False
) -> BoundAddress:
    """Bind the viewer's address; call this first, so that a port in use is reported at once."""
    family, address = _look_up(host)
    if not (is_remote or ipaddress.ip_address(address.partition("%")[0]).is_loopback):
        raise UsageError(
            f"--host {host} lets other machines see the rollouts\n"
            "  what to do: add --remote if you want that; visitors then need a token to log in"
        )
    listening = _bind_socket(family, address, port)
    names = {_bracket_ipv6(host), _bracket_ipv6(address), *(_machine_names() if is_remote else ())}
    return BoundAddress(
        listening=listening,
        host=address,
        port=listening.getsockname()[1],
        names=frozenset(name.lower() for name in names),
        token=secrets.token_urlsafe(24) if is_remote else None,
    )


def run(
    app: Starlette,
    address: BoundAddress,
    *,
    on_ready: Callable[[], None],
    on_stop: Callable[[], None],
) -> None:
    """Serve until SIGINT or SIGTERM arrives, then end the process."""
    asyncio.run(_serve(app, address.listening, on_ready))
    on_stop()
    write_error("the viewer has stopped\n")
    # a normal exit of the interpreter would wait for pages that are still being rendered
    os._exit(0)


def open_browser(url: str) -> None:
    """Open a browser if this machine has a display; a failure is ignored."""
    if not _has_display():
        return
    # in its own session without the terminal, because some browsers write to the terminal
    command = [sys.executable, "-I", "-m", "webbrowser", "-t", url]

    def run_browser() -> None:
        with contextlib.suppress(OSError):
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                check=False,
            )

    threading.Thread(target=run_browser, daemon=True).start()


class _ViewerServer(LimitedServer):
    def __init__(self, app: Starlette) -> None:
        connections = Connections(allow_connections(MOST_CONNECTIONS))
        super().__init__(
            app,
            connections,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
            h11_max_incomplete_event_size=2 * TARGET_BYTES,
        )

    def stop(self) -> None:
        # pages that are interrupted now need no message
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True


async def _serve(app: Starlette, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    server = _ViewerServer(app)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not (server.started or serving.done()):
        await asyncio.sleep(0.01)
    if not serving.done():
        on_ready()
    await serving
    # interrupted pages first end their queries
    remaining = asyncio.all_tasks() - {asyncio.current_task()}
    if remaining:
        await asyncio.wait(remaining, timeout=STOP_SECONDS)


def _look_up(host: str) -> tuple[socket.AddressFamily, str]:
    """Return the family and the IP address of a host."""
    try:
        if not host.strip():
            raise ValueError("the name is empty")
        results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # an IDNA error is a ValueError
        raise UsageError(f"--host {host!r} is not an address of this machine: {error}") from error
    # prefer IPv4: browsers try it too if a name has both
    results.sort(key=lambda result: result[0] != socket.AF_INET)
    family, _, _, _, address = results[0]
    return family, str(address[0])


def _bind_socket(family: socket.AddressFamily, address: str, port: int | None) -> socket.socket:
    """Return a listening socket: on the given port, or on the next free one if there is none."""
    error = OSError()
    for candidate in [port] if port is not None else [*PORTS, 0]:
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, candidate))
            listening.listen()
        except OSError as problem:
            listening.close()
            error = problem
            continue
        return listening
    target = f"{address}:{port}" if port is not None else address
    raise ServerError(
        f"the viewer cannot listen on {target}: {error.strerror}\n"
        "  what to do: choose another --port, or leave it out to use the next free one"
    ) from error


def _bracket_ipv6(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _machine_names() -> set[str]:
    """Return the host names of this machine; wait at most NAME_SECONDS for the name server."""
    names = {socket.gethostname()}

    def look_up() -> None:
        names.add(socket.getfqdn())

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(NAME_SECONDS)
    return set(names)


def _has_display() -> bool:
    """Tell whether a browser can open a window; a text browser would use this terminal."""
    if sys.platform in ("darwin", "win32") or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
