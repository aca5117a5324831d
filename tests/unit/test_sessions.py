"""Sessions of a resources server: kept while they are used, dropped when they are not."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from collector.servers.resources_servers.server import Sessions


def request_with(name: str) -> Any:
    return SimpleNamespace(cookies={"session": name})


def test_a_session_that_nobody_uses_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(f"{Sessions.__module__}.time.monotonic", lambda: now[0])
    sessions = Sessions(seconds=10)
    used, forgotten = sessions.begin("used"), sessions.begin("forgotten")
    now[0] = 8.0
    found = sessions.find(request_with(used))
    assert found
    assert found.state == "used"
    now[0] = 12.0
    sessions.begin("new")
    assert len(sessions) == 2
    assert sessions.find(request_with(forgotten)) is None
    assert sessions.find(request_with(used))


def test_an_ended_session_is_gone() -> None:
    sessions = Sessions()
    name = sessions.begin("state")
    sessions.end(request_with(name))
    sessions.end(request_with("unknown"))
    assert sessions.find(request_with(name)) is None
    assert len(sessions) == 0


def test_a_session_whose_tool_is_running_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(f"{Sessions.__module__}.time.monotonic", lambda: now[0])

    async def run() -> int:
        sessions = Sessions(seconds=10)
        session = sessions.find(request_with(sessions.begin("busy")))
        assert session
        async with session.lock:
            now[0] = 60.0
            sessions.begin("new")
            return len(sessions)

    assert asyncio.run(run()) == 2
