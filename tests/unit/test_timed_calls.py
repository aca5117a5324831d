"""The time limit of an environment's calls: what a rollout gets, and what happens to the thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, ClassVar

import httpx
import pytest

from collector.servers.resources_servers import timed_calls
from collector.servers.resources_servers.environment import Environment, Solution, Tool
from collector.servers.resources_servers.server import ResourcesServer
from collector.servers.resources_servers.timed_calls import CallTimeoutError, TimedCalls
from collector.servers.web import RequestRefusedError
from tests.support import Row

BRIEF = 0.05


class Waiting(Environment[threading.Event]):
    """An environment whose calls wait until they are released, if the task says so."""

    released: ClassVar[threading.Event]
    tools: ClassVar[Any] = (
        Tool("wait", "Wait.", {"properties": {}}, lambda state, _: state.wait()),
    )

    def new_session(self, row: Row) -> threading.Event:
        if row.get("waits") == "seed":
            self.released.wait()
        return self.released

    def verify(self, row: Row, response: Row, state: threading.Event | None) -> Row:  # noqa: ARG002
        if row.get("waits") == "verdict":
            self.released.wait()
        if row.get("waits") == "socket":
            raise TimeoutError("the judge does not answer")
        return {"reward": 1.0}

    def solution(self, row: Row) -> Solution:  # noqa: ARG002
        return Solution()


@pytest.fixture(autouse=True)
def released() -> Iterator[threading.Event]:
    Waiting.released = threading.Event()
    yield Waiting.released
    Waiting.released.set()


Talk = Callable[[httpx.AsyncClient], Awaitable[Any]]


def talk(to_server: Talk, seconds: float = BRIEF) -> Any:
    app = ResourcesServer("waiting", Waiting({}), call_seconds=seconds).app()

    async def run() -> Any:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await to_server(client)

    return asyncio.run(run())


async def verdict(client: httpx.AsyncClient, **row: Any) -> Row:
    answer: Row = (await client.post("/verify", json={"response": {}, **row})).json()
    return answer


def test_a_verdict_that_takes_too_long_masks_the_rollout() -> None:
    answer = talk(lambda client: verdict(client, waits="verdict"))
    assert answer["reward"] == 0.0
    assert answer["mask_sample"] is True
    assert answer["failure_kind"] == "verifier_error"
    assert answer["failure_reason"] == "verdict: gave up after 0.05 s"


def test_other_requests_are_answered_meanwhile(released: threading.Event) -> None:
    async def both(client: httpx.AsyncClient) -> tuple[Row, Row]:
        slow = asyncio.create_task(verdict(client, waits="verdict"))
        quick = await verdict(client)
        assert not slow.done()
        released.set()
        return quick, await slow

    quick, slow = talk(both, seconds=600)
    assert (quick["reward"], slow["reward"]) == (1.0, 1.0)


def test_a_tool_that_takes_too_long_ends_the_session() -> None:
    async def call_twice(client: httpx.AsyncClient) -> list[Row]:
        await client.post("/seed_session", json={})
        answers = [(await client.post("/wait", json={})).json() for _ in range(2)]
        return [*answers, await verdict(client)]

    first, second, judged = talk(call_twice)
    assert first == second == {"error": "wait: gave up after 0.05 s"}
    assert (judged["mask_sample"], judged["failure_kind"]) == (True, "session_lost")


def test_a_session_that_does_not_begin_is_an_error() -> None:
    async def seed(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/seed_session", json={"waits": "seed"})

    answer = talk(seed)
    assert (answer.status_code, answer.json()) == (504, "seed_session: gave up after 0.05 s")


def test_a_timeout_of_the_environment_itself_is_its_error() -> None:
    async def judge(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/verify", json={"response": {}, "waits": "socket"})

    answer = talk(judge, seconds=600)
    assert answer.status_code == 500
    assert answer.json() == "TimeoutError: the judge does not answer"


def test_only_so_many_calls_are_abandoned(
    monkeypatch: pytest.MonkeyPatch, released: threading.Event
) -> None:
    monkeypatch.setattr(timed_calls, "MOST_ABANDONED", 2)

    async def run() -> None:
        calls = TimedCalls(BRIEF)
        for _ in range(2):
            with pytest.raises(CallTimeoutError):
                await calls.run(released.wait)
        with pytest.raises(RequestRefusedError, match="restart the servers") as refusal:
            await calls.run(str, 1)
        assert refusal.value.status == 503
        released.set()
        while calls._abandoned:
            await asyncio.sleep(0.01)
        assert await calls.run(str, 1) == "1"

    asyncio.run(run())


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, StopIteration])
def test_an_environment_cannot_end_the_server(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=f"the environment raised {error.__name__}"):
        asyncio.run(TimedCalls().run(fail))
