"""Clients that connect and wait cannot hold up a server; real sockets on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from collector import http_server
from collector.http_server import Connections, LimitedServer
from tests.servers import BUNDLED, get, running_gym
from tests.support import ROOT
from tests.viewers import NO_CERTIFICATES, viewing

MOST = 6
LARGE = b"x" * 30_000_000
HEAD = b"Host: 127.0.0.1\r\n"
BUSY = b"GET /busy HTTP/1.1\r\nConnection: close\r\n" + HEAD + b"\r\n"


class Served:
    """A server in a thread, with a page that waits, a large page and one that reads a body."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.is_busy = threading.Event()
        self.connections = Connections(MOST)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.server = LimitedServer(self.app(), self.connections, timeout_graceful_shutdown=1)
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))

    def app(self) -> Starlette:
        async def quick(_: Request) -> Response:
            return PlainTextResponse("quick")

        async def busy(_: Request) -> Response:
            self.is_busy.set()
            while not self.release.is_set():
                await asyncio.sleep(0.01)
            return PlainTextResponse("done")

        async def large(_: Request) -> Response:
            return Response(LARGE)

        async def read(request: Request) -> Response:
            return PlainTextResponse(str(len(await request.body())))

        routes = [Route("/", quick), Route("/busy", busy), Route("/large", large)]
        return Starlette(routes=[*routes, Route("/read", read, methods=["POST"])])

    async def run(self) -> None:
        await self.server.serve(sockets=[self.listening])

    def connect(self, text: bytes = b"") -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        client.sendall(text)
        return client

    def waiting_paths(self) -> list[str]:
        """Return the paths of the requests that wait, the longest first; empty without one."""
        connections = list(self.connections._waiting)
        return [str(one.scope["path"]) if one.scope else "" for one in connections]

    def get(self, path: str) -> httpx.Response:
        address = f"http://127.0.0.1:{self.port}{path}"
        return httpx.get(address, timeout=60, verify=NO_CERTIFICATES)


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    made.thread.start()
    wait_until(lambda: made.server.started)
    yield made
    made.release.set()
    made.server.should_exit = True
    made.thread.join()
    for name in http_server.LOGGERS:  # they would remember this test's messages
        logging.getLogger(name).filters.clear()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "PATIENCE_SECONDS", 0.3)


def wait_until(is_true: Callable[[], object]) -> None:
    for _ in range(3000):
        if is_true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def read_to_end(client: socket.socket) -> bytes:
    """Return what arrives until the server closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := client.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\n" + HEAD,
        b"POST /read HTTP/1.1\r\n" + HEAD + b"Content-Length: 9\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HEAD + b"\r\nGET / HTTP/1.1\r\n",
    ],
    ids=["nothing", "a word", "headers", "half a body", "idle", "half of a second request"],
)
def test_a_client_that_sends_no_more_is_disconnected(served: Served, sent: bytes) -> None:
    with served.connect(sent) as client:
        answer = read_to_end(client)
    assert answer.count(b"HTTP/1.1 200") == (
        1 if b"\r\n\r\n" in sent and b"POST" not in sent else 0
    )
    wait_until(lambda: not len(served.connections))


@pytest.mark.usefixtures("impatient")
def test_headers_that_come_byte_by_byte_do_not_extend_the_wait(served: Served) -> None:
    with served.connect(b"GET / HTTP/1.1\r\nX: ") as client:
        wait_until(lambda: not send_byte(client))


def send_byte(client: socket.socket) -> bool:
    """Send a byte; tell whether the server still takes it."""
    try:
        client.sendall(b"x")
    except ConnectionError:
        return False
    return True


@pytest.mark.usefixtures("impatient")
def test_a_client_that_does_not_read_is_disconnected(served: Served) -> None:
    with served.connect(b"GET /large HTTP/1.1\r\n" + HEAD + b"\r\n") as client:
        client.recv(1)
        wait_until(lambda: not len(served.connections))
        assert len(read_to_end(client)) < len(LARGE)


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_takes_long_is_not_cut_off(served: Served) -> None:
    with served.connect(BUSY) as busy, served.connect() as overdue:
        assert served.is_busy.wait(60)
        read_to_end(overdue)  # the server has run out of patience with those that only wait
        served.release.set()
        assert read_to_end(busy).endswith(b"done")


def test_each_part_of_a_body_extends_the_wait(served: Served) -> None:
    post = b"POST /read HTTP/1.1\r\nConnection: close\r\n" + HEAD + b"Content-Length: 2\r\n\r\n"
    with contextlib.ExitStack() as stack:
        slow = stack.enter_context(served.connect(post))
        wait_until(lambda: served.waiting_paths() == ["/read"])
        others = [stack.enter_context(served.connect()) for _ in range(MOST - 1)]
        wait_until(lambda: len(served.connections) == MOST)
        slow.sendall(b"x")
        wait_until(lambda: served.waiting_paths()[-1] == "/read")
        stack.enter_context(served.connect())
        assert read_to_end(others[0]) == b""
        slow.sendall(b"x")
        assert read_to_end(slow).endswith(b"\r\n\r\n2")


def test_new_connections_take_the_place_of_those_that_wait(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(served.connect(BUSY))
        assert served.is_busy.wait(60)
        waiting = [stack.enter_context(served.connect(b"GET ")) for _ in range(5 * MOST)]
        assert served.get("/").text == "quick"
        assert len(served.connections) <= MOST
        assert read_to_end(waiting[0]) == b""
        served.release.set()
        assert read_to_end(busy).endswith(b"done")
    (record,) = [one for one in caplog.records if one.name == "spotter"]
    assert f"limit of {MOST} connections" in record.getMessage()


def test_the_same_message_is_logged_once_a_minute(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        with served.connect(b"\0\r\n\r\n") as client:
            assert b"400" in read_to_end(client)
    messages = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert messages == ["Invalid HTTP request received."]


def flood(port: int, count: int, stack: contextlib.ExitStack) -> None:
    for number in range(count):
        client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
        with contextlib.suppress(ConnectionError):
            client.sendall(b"GET / HT" if number % 2 else b"")


def test_half_open_connections_do_not_lock_anyone_out_of_the_viewer(workspace: Path) -> None:
    with viewing("examples", "-w", workspace / "w.duckdb", "--remote", cwd=ROOT) as viewer:
        with contextlib.ExitStack() as stack:
            flood(viewer.port, 400, stack)
            assert viewer.get(f"/?token={viewer.token}").status_code == 303
        code, errors = viewer.stop()
    assert code == 0
    assert "Traceback" not in errors
    assert errors.count("the limit of 256 connections") == 1
    assert len(errors.splitlines()) <= 3


def test_a_gym_that_can_open_no_more_files_makes_room(workspace: Path) -> None:
    with running_gym(*BUNDLED, cwd=workspace) as gym:
        resource.prlimit(gym.process.pid, resource.RLIMIT_NOFILE, (120, 120))
        with contextlib.ExitStack() as stack:
            flood(gym.head_port, 200, stack)
            for url in [gym.head, *gym.urls.values()]:
                assert get(url).status == 200
    assert "Traceback" not in gym.errors
    assert gym.errors.count("cannot accept a connection") == 1
