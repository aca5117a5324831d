"""Addresses that nobody means well with: each gets an answer, and does nothing."""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.browser import Visitor, World
from tests.viewers import Watched

SCRIPT = quote("<script>window.pwned=1</script>")
HERE = "run=RUN"  # the name of a run that is there
ADDRESSES = {
    "unknown run": (f"/run?run={SCRIPT}", 404),
    "no run": ("/run", 404),
    "unknown page": (f"/{SCRIPT}", 404),
    "negative task": (f"/task?{HERE}&task=-1", 404),
    "endless task": (f"/task?{HERE}&task=99999999999999999999", 404),
    "large task": (f"/task?{HERE}&task=999999999999999999", 404),
    "script as task": (f"/task?{HERE}&task={SCRIPT}", 404),
    "other digits as task": (f"/task?{HERE}&task={quote('٣')}", 404),
    "unknown rollout": (f"/rollout?{HERE}&task=0&rollout=999999999999999999", 404),
    "raw of an unknown rollout": (f"/rollout/raw?{HERE}&task=0&rollout=77", 404),
    "endless page": (f"/tasks?{HERE}&page=1e9", 200),
    "last page": (f"/tasks?{HERE}&page=999999999", 200),
    "script as order": (f"/tasks?{HERE}&sort={SCRIPT}", 200),
    "query as order": (f"/tasks?{HERE}&sort={quote('-(select 1)')}", 200),
    "filter of nothing": (f"/tasks?{HERE}&f.x=1&f.=2&f.pass_ratio=", 200),
    "script as filter": (f"/tasks?{HERE}&f.pass_ratio={SCRIPT}", 200),
    "endless filter": (f"/tasks?{HERE}&f.pass_ratio=1e400", 200),
    "long number as filter": (f"/tasks?{HERE}&f.task_index={'9' * 300}", 200),
    "no number as filter": (f"/tasks?{HERE}&f.pass_ratio=nan..inf", 200),
    "script as flag": (f"/rollouts?{HERE}&f.is_truncated={SCRIPT}", 200),
    "script as search": (f"/tasks?{HERE}&q={SCRIPT}", 200),
    "odd characters as search": (f"/tasks?{HERE}&q=%00%ff%ed%a0%80", 200),
    "nothing as a run": ("/run?run=%00", 404),
    "no text as a run": ("/run?run=%ff", 404),
    "half a pair as a run": ("/run?run=%ed%a0%80", 404),
    "no text as agent": (f"/run?{HERE}&agent=%ff%00", 200),
    "no text in a path": ("/%00%ff", 404),
    "path upwards": ("/static/%2e%2e/%2e%2e/errors.py", 404),
    "path upwards, doubled": ("/static/..%2f..%2ferrors.py", 404),
    "part of another file": (f"/rollout/text?{HERE}&task=0&rollout=0&part=../../etc/passwd", 200),
    "part that is none": (f"/rollout/text?{HERE}&task=0&rollout=0&part=/response/output/9999", 200),
    "odd part": (f"/task/text?{HERE}&task=0&part=/~2/%00/{'9' * 400}", 200),
    "three sides to compare": (f"/compare?side={SCRIPT}&side=b&side=c", 400),
    "unknown runs to compare": (f"/compare?a={SCRIPT}&b={SCRIPT}", 404),
    "unknown attempts to compare": (f"/task?{HERE}&task=0&a={SCRIPT}&b=-1", 200),
    "unknown run to curate": (f"/curate?run={SCRIPT}", 404),
    "script as a rule": (f"/curate?{HERE}&order={SCRIPT}", 400),
    "odd characters as a rule": (f"/curate?{HERE}&drop=%00%ff&seed=%ed%a0%80", 400),
    "script as a recipe": (f"/curate/recipe.yml?{HERE}&seed={SCRIPT}", 400),
    "live of an unknown run": (f"/live?run={SCRIPT}", 404),
}


@pytest.mark.parametrize(("address", "status"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_odd_address_gets_an_answer_that_does_nothing(
    address: str, status: int, viewer: Watched, visitor: Visitor, world: World
) -> None:
    address = address.replace("=RUN", f"={world.a}")
    answer = viewer.get(address)
    assert answer.status_code == status, answer.text[:2000]
    assert "passwd" not in answer.text or "root:" not in answer.text
    if answer.headers["content-type"].startswith("text/html") and SCRIPT in address:
        assert "<script>window" not in answer.text
        visitor.open(address, status=status)
        assert visitor.page.evaluate("window.pwned") is None


FOREIGN = {
    "host": {"Host": "attacker.example"},
    "host with our port": {"Host": "attacker.example:PORT"},
    "origin": {"Origin": "http://attacker.example"},
    "null origin": {"Origin": "null"},
    "frame": {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "iframe",
    },
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("path", ["/", "/sql?q=select+1", "/static/app.js", f"/run?{HERE}"])
def test_what_others_ask_for_is_refused(
    path: str, headers: dict[str, str], viewer: Watched
) -> None:
    given = {name: text.replace("PORT", str(viewer.port)) for name, text in headers.items()}
    answer = viewer.get(path, headers=given)
    assert answer.status_code in (403, 421)
    assert "Spotter</" not in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("target", ["/run?run=\x01", "//127.0.0.1:1/", "/a b", "http://x/"])
def test_requests_that_no_browser_sends_are_answered(target: str, viewer: Watched) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=20)
    connection.putrequest = _putrequest(connection, target)  # type: ignore[method-assign]
    connection.request("GET", "/")
    assert 400 <= connection.getresponse().status < 500
    connection.close()
    assert httpx.get(viewer.base, timeout=60).status_code == 200


def _putrequest(connection: http.client.HTTPConnection, target: str) -> Any:
    """Send an address as it is, which the library would refuse to."""

    def put(*_: Any, **__: Any) -> None:
        http.client.HTTPConnection.putrequest(connection, "GET", "/")
        connection._buffer[0] = f"GET {target} HTTP/1.1".encode("latin-1")  # type: ignore[attr-defined]

    return put
