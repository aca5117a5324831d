"""What every server of a gym refuses and redacts, whatever the server is."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from collector.servers.protection import Protection
from collector.servers.web import json_response, make_app

SECRET = "planted-0123456789"  # noqa: S105 - of nobody
CONFIG: dict[str, Any] = {"a": {"some_api_key": SECRET}, "allowed_hosts": ["gym", "Gym.Example"]}
NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


async def _echo(_: Request) -> Response:
    return json_response({"it": f"is {SECRET}", SECRET: 1})


async def _fail(_: Request) -> Response:
    raise RuntimeError(f"refused {SECRET}")


async def _stream(_: Request) -> Response:
    parts = iter(['{"it": "is plan', 'ted-0123456789"}'])
    return StreamingResponse(parts, media_type="application/json")


def ask(
    path: str = "/",
    *,
    method: str = "GET",
    hosts: tuple[str, ...] = ("127.0.0.1",),
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    app = make_app("mine", {"/echo": _echo}, getters={"/fail": _fail, "/stream": _stream})
    protection = Protection.of_config(CONFIG, hosts)
    transport = httpx.ASGITransport(protection.wrap(app, "mine"))

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return await client.request(method, path, headers=headers)

    with protection.redacted_logs():
        return asyncio.run(send())


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:1", "127.0.0.1", "localhost:9", "[::1]:1", "LOCALHOST:1", "gym:1"),
        *("gym.example:80", "node-1:1", "10.0.0.1:1", "[fe80::1]:1"),
    ],
)
def test_the_names_of_the_config_are_served(host: str) -> None:
    assert ask(hosts=("127.0.0.1", "node-1"), headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:1", "127.0.0.1.evil.example:1", "localhost.evil.example", "", "gym2:1"),
        *("node-2:1", "[evil]:1", "::1", "127.0.0.1:1:1", "x@127.0.0.1:1"),
    ],
)
def test_other_names_are_refused(host: str) -> None:
    answer = ask(hosts=("127.0.0.1", "node-1"), headers={"Host": host})
    assert answer.status_code == 421
    assert "allowed_hosts" in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_requests_of_other_pages_are_refused(headers: dict[str, str]) -> None:
    assert ask("/echo", method="POST", headers=headers).status_code == 403


def test_a_link_may_be_followed() -> None:
    assert ask(headers={"Sec-Fetch-Site": "cross-site", **NAVIGATION}).status_code == 200


@pytest.mark.parametrize("path", ["/echo", "/fail", "/stream"])
def test_answers_hold_no_secret(path: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = ask(path, method="POST" if path == "/echo" else "GET")
    assert "[redacted]" in answer.text
    assert SECRET not in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert SECRET not in caplog.text
    assert ("[redacted]" in caplog.text) == (path == "/fail")


def test_logs_hold_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    formatter = logging.Formatter("%(message)s")
    with Protection.of_config(CONFIG, []).redacted_logs():
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("any").exception("a header %s, %d%%", SECRET, 5)
    (record,) = caplog.records
    text = formatter.format(record)
    assert text.startswith("a header [redacted], 5%\nTraceback")
    assert text.endswith("ValueError: [redacted]")
    assert SECRET not in text
    before = logging.getLogRecordFactory()
    assert before("n", 30, "p", 1, SECRET, (), None).getMessage() == SECRET
