"""Who may look: every request is one for this server, from its own pages, with the token."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from collector.viewer import guard as guards
from collector.viewer.guard import HEADERS, Guard, local_path

PORT = 7860
TOKEN = "the-token"  # noqa: S105
OURS = f"127.0.0.1:{PORT}"
NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


async def _page(request: Request) -> Response:
    return PlainTextResponse(f"seen {request.query_params}")


async def _broken(_: Request) -> Response:
    raise RuntimeError("a defect")


class Client:
    """A browser that talks to the application without a network, and keeps its cookies."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self._cookies = httpx.Cookies()

    def request(self, method: str, url: str, **given: Any) -> httpx.Response:
        return asyncio.run(self._request(method, url, **given))

    def get(self, url: str, **given: Any) -> httpx.Response:
        return self.request("GET", url, **given)

    def post(self, url: str, **given: Any) -> httpx.Response:
        return self.request("POST", url, **given)

    def without_host(self, path: str) -> httpx.Response:
        """Ask without the header that httpx always sends."""
        request = httpx.Request("GET", f"http://{OURS}{path}")
        del request.headers["Host"]
        transport = httpx.ASGITransport(self._app)
        return asyncio.run(transport.handle_async_request(request))

    async def _request(self, method: str, url: str, **given: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
        base = f"http://{OURS}"
        async with httpx.AsyncClient(
            transport=transport, base_url=base, cookies=self._cookies
        ) as asking:
            answer = await asking.request(method, url, **given)
            self._cookies = asking.cookies
        return answer


def client(guard: Guard) -> Client:
    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/run", _page),
            Route("/broken", _broken),
            Route("/static/app.css", _page),
            Route("/login", _page, methods=["POST"]),
        ],
        middleware=guard.middleware(),
    )
    return Client(app)


@pytest.fixture
def local() -> Client:
    return client(Guard(port=PORT, names=frozenset({"127.0.0.1"})))


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(guards, "WRONG_SECONDS", 0)
    return client(Guard(port=PORT, names=frozenset({"box", "box.example.org"}), token=TOKEN))


@pytest.mark.parametrize("host", [OURS, f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_answers_to_the_names_of_the_loopback(host: str, local: Client) -> None:
    assert local.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:7861",
        "evil.example:7860",
        "localhost.evil.example:7860",
        "localhost.:7860",
        "127.0.0.1:7860.evil.example",
        "127.0.0.1:7860@evil.example",
        "evil.example:7860:7860",
        "[::1]",
        "::1:7860",
        "192.168.0.7:7860",
        "<script>alert(1)</script>:7860",
    ],
)
def test_refuses_other_hosts(host: str, local: Client) -> None:
    answer = local.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.headers["content-type"].startswith("text/plain")
    assert "http://127.0.0.1:7860/" in answer.text


@pytest.mark.parametrize("other", ["evil.example", OURS], ids=["another", "the same"])
def test_refuses_two_hosts(other: str, local: Client) -> None:
    for hosts in ([OURS, other], [other, OURS]):
        answer = local.get("/", headers=[("Host", host) for host in hosts])
        assert answer.request.headers.get_list("host") == hosts
        assert answer.status_code == 421


def test_refuses_no_host(local: Client) -> None:
    assert local.without_host("/").status_code == 421


def test_needs_no_port_at_port_80() -> None:
    asked = client(Guard(port=80))
    assert asked.get("/", headers={"Host": "localhost"}).status_code == 200
    assert asked.get("/", headers={"Host": "localhost:80"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "http://127.0.0.1:7861", "file://", ""]
)
def test_refuses_other_origins(origin: str, local: Client) -> None:
    assert local.get("/", headers={"Origin": origin}).status_code == 403


def test_answers_to_its_own_origin(local: Client) -> None:
    assert local.get("/", headers={"Origin": f"http://{OURS}"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none", **NAVIGATION}, 200),
        ({"Sec-Fetch-Site": "cross-site", **NAVIGATION}, 200),
        ({"Sec-Fetch-Site": "same-site", **NAVIGATION}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "new-thing"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe",
            },
            403,
        ),
    ],
)
def test_links_from_elsewhere_work_and_nothing_else_does(
    headers: dict[str, str], status: int, local: Client
) -> None:
    assert local.get("/", headers=headers).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_only_reads(method: str, local: Client, remote: Client) -> None:
    for asked in (local, remote):
        answer = asked.request(method, "/")
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"
    assert local.post("/login").status_code == 405


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/nowhere", {}),
        ("/broken", {}),
        ("/static/app.css", {}),
        ("/", {"Host": "evil.example"}),
        ("/", {"Origin": "null"}),
    ],
)
def test_every_response_has_the_headers(path: str, headers: dict[str, str], local: Client) -> None:
    answer = local.get(path, headers=headers)
    for name, value in HEADERS.items():
        assert answer.headers.get_list(name) == [value]
    keep = "no-cache" if path.startswith("/static/") else "no-store"
    assert answer.headers["cache-control"] == keep


def test_no_inline_script_may_run() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_the_token_is_asked_for(remote: Client) -> None:
    answer = remote.get("/run?run=a%26b")
    assert answer.status_code == 401
    assert 'name="next" value="/run?run=a%26b"' in answer.text
    assert "seen" not in answer.text
    assert remote.get("/static/app.css").status_code == 200


def test_the_token_in_the_address_logs_in_and_is_taken_away(remote: Client) -> None:
    answer = remote.get(f"/run?run=a%26b&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/run?run=a%26b")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"spotter_{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert remote.get("/run?run=a").text == "seen run=a"
    again = remote.get(f"/run?token={TOKEN}x")
    assert (again.status_code, again.headers["location"]) == (303, "/run")


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "\udc80", "é" * 1000])
def test_a_wrong_token_does_not(token: str, remote: Client) -> None:
    answer = remote.get("/run", params={"token": token.encode(errors="replace")})
    assert answer.status_code == 401
    assert "This token is wrong" in answer.text
    assert "set-cookie" not in answer.headers


def test_a_wrong_cookie_does_not(remote: Client) -> None:
    for value in ("", TOKEN, "é", "x" * 1000):
        answer = remote.get("/", headers={"Cookie": f"spotter_{PORT}={value}".encode()})
        assert answer.status_code == 401


def test_the_form_logs_in(remote: Client) -> None:
    wrong = remote.post("/login", data={"token": "wrong", "next": "/run?run=a"})
    assert wrong.status_code == 401
    assert 'value="/run?run=a"' in wrong.text
    right = remote.post(
        "/login",
        data={"token": f" {TOKEN}\n", "next": "/run?run=a"},
        headers={"Origin": f"http://{OURS}", "Sec-Fetch-Site": "same-origin"},
    )
    assert (right.status_code, right.headers["location"]) == (303, "/run?run=a")
    assert remote.get("/").status_code == 200


def test_the_form_of_another_site_does_not(remote: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", **NAVIGATION}
    assert remote.post("/login", data={"token": TOKEN}, headers=headers).status_code == 403


def test_a_large_form_is_refused(remote: Client) -> None:
    assert remote.post("/login", data={"token": "x" * 100_000}).status_code == 413


@pytest.mark.parametrize(
    "place",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/\n/evil.example",
        "/\t/evil.example",
        "/a b",
        "/é",
    ],
)
def test_nobody_is_sent_elsewhere(place: str, remote: Client) -> None:
    assert local_path(place) == "/"
    answer = remote.post("/login", data={"token": TOKEN, "next": place})
    assert answer.headers["location"] == "/"


def test_a_path_that_looks_like_a_host_leads_nowhere(remote: Client) -> None:
    answer = remote.get(f"http://{OURS}//evil.example/?token={TOKEN}")
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("box:7860", 401),
        ("BOX.example.org:7860", 401),
        ("10.0.0.7:7860", 401),
        ("[fe80::1]:7860", 401),
        ("localhost:7860", 401),
        ("evil.example:7860", 421),
        ("10.0.0.7:7861", 421),
        ("10.0.0.7.evil.example:7860", 421),
    ],
)
def test_other_machines_use_its_names_or_its_address(
    host: str, status: int, remote: Client
) -> None:
    assert remote.get("/", headers={"Host": host}).status_code == status
