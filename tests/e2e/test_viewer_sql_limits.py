"""What a query of the SQL page may use: time, memory, rows, and places for queries at once."""

from __future__ import annotations

import asyncio
import http.client
import re
import time
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import httpx
import pytest
from starlette.applications import Starlette

from collector.viewer.pages import runs, sql
from collector.viewer.sandbox.runner import Limits, Sandbox
from tests.pages import app_of, client_of, get
from tests.queries import ask, make_queried, message
from tests.support import Profiled
from tests.viewers import Watched, viewing

COLUMNS = ", ".join(f"repeat('é', 9999) as c{number}" for number in range(40))
COPIES = ", ".join(f"t as t{number}" for number in range(75))
WIDE = f"with t as (select {COLUMNS}) select * from range(9), {COPIES}"
MEMORY = "the query needs more than 512 MB of memory, the limit on this page"
DEPTH = "Max expression depth limit of 1000 exceeded"
ENDLESS = "with recursive t as (select 1 as a union all select a + 1 from t) select count(*) from t"
# DuckDB does not notice in the middle of this that it should stop
DEAF = "select levenshtein(repeat('a', 300000), repeat('b', 300000))"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return make_queried(tmp_path_factory.mktemp("viewer-sql"))


@pytest.fixture(scope="module")
def viewer(run: Profiled) -> Iterator[Watched]:
    with viewing(cwd=run.rollouts.parent) as watched:
        yield watched


def limited(run: Profiled, **limits: float) -> Starlette:
    """The page with limits that a test can wait for."""
    app = app_of(run.warehouse, [*runs.ROUTES, *sql.ROUTES])
    app.state.sandbox = Sandbox(run.warehouse, Limits(**limits))  # type: ignore[arg-type]
    return app


def address(query: str, path: str = "/sql") -> str:
    return f"{path}?q={quote(query)}"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select repeat('x', 2000000000)", MEMORY),
        ("select repeat('x', 400000000)", MEMORY),
        ("select list_sum(range(100000000))", MEMORY),
        ("select * from range(200000000) t(a) order by hash(a)", MEMORY),
        ("select string_agg(repeat('x', 1000000), '') from range(2000)", MEMORY),
        ("select " + "(" * 8_000 + "1" + ")" * 8_000, DEPTH),
        ("select " + "-".join(["1"] * 8_000), DEPTH),
        (WIDE, MEMORY),
    ],
    ids=["string", "one cell", "list", "sort", "aggregate", "depth", "terms", "wide rows"],
)
def test_a_query_that_is_too_large_is_stopped(query: str, said: str, viewer: Watched) -> None:
    answer = ask(viewer, query)
    assert answer.status_code == 400
    assert said in message(answer)
    assert ask(viewer, "select 1").status_code == 200


def test_a_page_of_hidden_characters_stays_small(viewer: Watched) -> None:
    columns = ", ".join(f"repeat(chr(8238) || '<', 100) as c{number}" for number in range(50))
    answer = ask(viewer, f"select {columns} from range(1000)")
    assert answer.status_code == 200
    assert "The first " in answer.text
    assert len(answer.content) < 20_000_000


@pytest.mark.parametrize("query", [DEAF, ENDLESS], ids=["deaf", "endless"])
def test_a_query_that_takes_too_long_is_stopped(query: str, run: Profiled) -> None:
    app = limited(run, seconds=1)
    answer = get(app, address(query))
    assert answer.status_code == 400
    assert "it took longer than 1 seconds" in message(answer)
    assert get(app, address("select 1")).status_code == 200


def test_a_crowd_waits_and_is_told(run: Profiled) -> None:
    app = limited(run, patience_seconds=0.1)
    held = address("select sleep_ms(1500)")

    async def come() -> tuple[list[httpx.Response], httpx.Response, httpx.Response]:
        async with client_of(app) as client:
            first = [asyncio.create_task(client.get(held)) for _ in range(2)]
            while not app.state.sandbox._slots.locked():
                await asyncio.sleep(0.01)
            late = await client.get(address("select 1"))
            other = await client.get("/")
            assert not any(one.done() for one in first)
            return await asyncio.gather(*first), late, other

    first, late, other = asyncio.run(come())
    app.state.viewer.store.close()
    assert late.status_code == 503
    assert "2 queries are already running" in late.text
    assert other.status_code == 200  # other pages do not wait
    assert [answer.status_code for answer in first] == [200, 200]


def test_a_closed_window_ends_its_query(viewer: Watched) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    connection.request("GET", address("select sleep_ms(9000)"))
    wait_for_workers(viewer, 1)
    connection.close()
    wait_for_workers(viewer, 0, seconds=8)


def wait_for_workers(viewer: Watched, count: int, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while len(viewer.children()) != count:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_download_has_up_to_a_million_rows(viewer: Watched) -> None:
    whole = viewer.get(address("select * from range(1000000)", "/sql.csv"))
    assert whole.text.count("\n") == 1_000_001
    answer = viewer.get(address("select * from range(1000001)", "/sql.csv"))
    assert answer.status_code == 400
    assert "the result has more than 1,000,000 rows" in answer.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select repeat('x', 1000) from range(1200)", "the result is larger than 1 MB"),
        (
            "select case when range = 5000 then error('late') else '1' end from range(6000)",
            "Invalid Input Error: late",
        ),
        (ENDLESS, "it took longer than 2 seconds"),
        ("selec 1", "LINE 1: selec 1"),
        ("", "The address does not contain a query"),
    ],
    ids=["large", "late error", "endless", "mistake", "nothing"],
)
def test_a_download_is_whole_or_none(query: str, said: str, run: Profiled) -> None:
    answer = get(limited(run, seconds=2, file_bytes=1 << 20), address(query, "/sql.csv"))
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/html")
    assert said in unescape(re.sub(r"<[^>]+>", "", answer.text))
