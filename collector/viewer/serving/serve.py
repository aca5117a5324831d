"""Run the viewer until it is stopped: take a port, say where it is, open a browser."""

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette

from collector.errors import ServerError, UsageError
from collector.terminal import write_error
from collector.viewer.guard import TARGET_BYTES, Guard

PORT = 7860
PORTS = range(PORT, PORT + 20)
HOST = "127.0.0.1"
BACKLOG = 128
NAME_SECONDS = 1.0
STOP_SECONDS = 1
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - to recognize them


@dataclass(frozen=True)
class Place:
    """Where the viewer listens, and what a browser calls that."""

    listening: socket.socket
    host: str
    """The address, such as 127.0.0.1 or ::1."""
    port: int
    names: frozenset[str]
    token: str | None

    @property
    def guard(self) -> Guard:
        """Return what lets in only requests for this place."""
        return Guard(port=self.port, names=self.names, token=self.token)

    def url(self, path: str = "/", *, with_token: bool = False) -> str:
        """Return an address to open."""
        host = socket.gethostname() if self.host in ANYWHERE else self.host
        name = f"[{host}]" if ":" in host else host
        given = urlencode({"token": self.token}) if with_token and self.token else ""
        mark = ("&" if "?" in path else "?") if given else ""
        return f"http://{name}:{self.port}{path}{mark}{given}"


def take_place(host: str = HOST, port: int | None = None, *, is_remote: bool = False) -> Place:
    """Take an address before anything else is done, so that a taken one is told at once."""
    family, address = _look_up(host)
    if not (is_remote or ipaddress.ip_address(address.partition("%")[0]).is_loopback):
        raise UsageError(
            f"--host {host} lets other machines look at the rollouts\n"
            "  what to do: add --remote if you want that; a token is then needed to log in"
        )
    listening = _bound(family, address, port)
    named = {_bracketed(host), _bracketed(address), *(_machine_names() if is_remote else ())}
    return Place(
        listening=listening,
        host=address,
        port=listening.getsockname()[1],
        names=frozenset(name.lower() for name in named),
        token=secrets.token_urlsafe(24) if is_remote else None,
    )


def run(
    app: Starlette, place: Place, *, on_ready: Callable[[], None], on_stop: Callable[[], None]
) -> None:
    """Serve until a signal comes, and end the process."""
    asyncio.run(_serve(app, place.listening, on_ready))
    on_stop()
    write_error("the viewer has stopped\n")
    # not through the interpreter's end: it would wait for pages that are still being made
    os._exit(0)


def open_browser(url: str) -> None:
    """Open a browser window, if this machine has windows; that this fails does not matter."""
    if not _has_windows():
        return
    # a process of its own, away from the terminal: not every browser leaves that alone
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


class _Server(uvicorn.Server):
    """A server that leaves the signals to us."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                log_level="warning",
                access_log=False,  # an address may hold the token
                server_header=False,
                backlog=64,  # each that cannot be accepted is logged
                timeout_keep_alive=30,
                timeout_graceful_shutdown=STOP_SECONDS,
                h11_max_incomplete_event_size=2 * TARGET_BYTES,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        # pages that are cut short now need no message
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True


async def _serve(app: Starlette, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    server = _Server(app)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not (server.started or serving.done()):
        await asyncio.sleep(0.01)
    if not serving.done():
        on_ready()
    await serving
    # pages that were cut short end their queries first
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=STOP_SECONDS)


def _look_up(host: str) -> tuple[socket.AddressFamily, str]:
    """Return the address that a host stands for."""
    try:
        if not host.strip():
            raise ValueError("it is empty")
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # an IDNA error is a ValueError
        raise UsageError(f"--host {host!r} is not an address of this machine: {error}") from error
    # where a name has both, browsers try IPv4 too
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    family, _, _, _, place = found[0]
    return family, str(place[0])


def _bound(family: socket.AddressFamily, address: str, port: int | None) -> socket.socket:
    """Return a socket that listens: on the port that was asked for, or on the next free one."""
    error = OSError()
    for candidate in [port] if port is not None else [*PORTS, 0]:
        made = socket.socket(family)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((address, candidate))
            made.listen(BACKLOG)
        except OSError as problem:
            made.close()
            error = problem
            continue
        return made
    shown = f"{address}:{port}" if port is not None else address
    raise ServerError(
        f"the viewer cannot listen on {shown}: {error.strerror}\n"
        "  what to do: give another --port, or none to take the next free one"
    ) from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _machine_names() -> set[str]:
    """Return what this machine is called; a slow name server does not keep us waiting."""
    names = {socket.gethostname()}

    def look_up() -> None:
        names.add(socket.getfqdn())

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(NAME_SECONDS)
    return set(names)


def _has_windows() -> bool:
    """Tell whether a browser would open a window; a browser in the terminal does not."""
    if sys.platform in ("darwin", "win32") or os.environ.get("BROWSER"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
