"""The SQL page: what it shows, and what it answers."""

from __future__ import annotations

import csv
import html
import http.client
import io
import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from tests.programs import run_command
from tests.queries import ask, make_queried, message
from tests.support import ALL_MARTS, Profiled
from tests.viewers import Watched, viewing

LINKED = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return make_queried(tmp_path_factory.mktemp("viewer-sql"))


@pytest.fixture(scope="module")
def viewer(run: Profiled) -> Iterator[Watched]:
    with viewing(cwd=run.rollouts.parent) as watched:
        yield watched


def cells(answer: httpx.Response) -> list[list[str]]:
    body = re.search(r"<tbody>(.*?)</tbody>", answer.text.partition("Result</h2>")[2], re.DOTALL)
    assert body, answer.text
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]+>", "", cell))
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_shows_the_tables_and_examples(viewer: Watched) -> None:
    answer = viewer.get("/sql")
    assert answer.status_code == 200
    for mart in ALL_MARTS:
        assert f"<code>{mart}</code>" in answer.text
    assert "One row per" in answer.text
    examples = re.findall(r'<li><a href="(/sql[^"]+)">', answer.text)
    assert len(examples) >= 5
    for example in examples:
        shown = viewer.get(html.unescape(example))
        assert shown.status_code == 200, shown.text
        assert "Result</h2>" in shown.text


def test_every_table_can_be_looked_at(viewer: Watched) -> None:
    links = re.findall(r'<a href="(/sql[^"]+)">Show its rows', viewer.get("/sql").text)
    assert len(links) == len(ALL_MARTS)
    assert viewer.get(html.unescape(links[0])).status_code == 200


def test_shows_a_result(viewer: Watched) -> None:
    query = "select task_index, reward_mean, null as x, '<b>' as y from task_profiles order by 1"
    answer = ask(viewer, query)
    assert cells(answer) == [
        ["0", "0.0", "null", "<b>"],
        ["1", "0.25", "null", "<b>"],
        ["2", "0.5", "null", "<b>"],
    ]
    assert '<td class="number">0.25</td>' in answer.text
    assert "3 rows, in " in answer.text
    assert html.escape(query, quote=False) in answer.text.replace("&#39;", "'")


def test_hostile_values_and_names_are_shown_as_they_are(viewer: Watched) -> None:
    script = "<script>alert(1)</script>"
    answer = ask(viewer, f"select '{script}' as \"{script}\", chr(8238) || 'x' as bidi")
    assert script not in answer.text
    assert "\u202e" not in answer.text
    assert "U+202E" in answer.text


def test_values_of_every_type_are_shown(viewer: Watched) -> None:
    answer = ask(viewer, "select * from test_all_types()")
    assert answer.status_code == 200
    assert len(cells(answer)) == 3


def test_a_long_result_is_cut_and_says_so(viewer: Watched) -> None:
    answer = ask(viewer, "select range as n, repeat('x', 5000) as t from range(1001)")
    rows = cells(answer)
    assert len(rows) == 1000
    assert rows[0][0] == "0"
    assert rows[0][1].endswith("x" * 2000 + "…")
    assert "The first 1,000 rows" in answer.text
    assert "The first" not in ask(viewer, "select * from range(1000)").text


def test_a_wide_result_is_cut_and_says_so(viewer: Watched) -> None:
    wide = ", ".join(f"i as c{number}" for number in range(1500))
    answer = ask(viewer, f"select {wide} from range(1000) as rows (i)")
    assert "The first 20 rows" in answer.text


def test_the_page_says_where_the_mistake_is(viewer: Watched) -> None:
    answer = ask(viewer, "select 1,\n  nope\nfrom runs")
    assert answer.status_code == 400
    assert "LINE 2:   nope" in message(answer)


def test_a_query_from_another_site_is_shown_and_not_run(viewer: Watched) -> None:
    answer = ask(viewer, "select 7 * 6 as answer", headers=LINKED)
    assert answer.status_code == 200
    assert "select 7 * 6 as answer" in answer.text
    assert "press Run" in answer.text
    assert "Result</h2>" not in answer.text
    refused = viewer.get("/sql.csv", params={"q": "select 1"}, headers=LINKED)
    assert refused.status_code == 403


def test_downloads_what_the_command_prints_without_formulas(run: Profiled, viewer: Watched) -> None:
    query = "select *, '=1+1' as formula, e'a\"b\\nc,' as quoted, null as x from task_profiles"
    answer = viewer.get("/sql.csv", params={"q": query})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="query.csv"'
    printed = run_command("spotter", "sql", query, "--csv", cwd=run.rollouts.parent)
    assert answer.text == printed.stdout.replace(",=1+1,", ",'=1+1,")
    assert next(csv.DictReader(io.StringIO(printed.stdout)))["formula"] == "=1+1"


def test_line_ends_of_a_form_are_lines(viewer: Watched) -> None:
    assert "LINE 2: nope" in message(ask(viewer, "select\r\nnope"))


def test_a_long_query_is_answered(viewer: Watched) -> None:
    query = "select '" + "x" * 100_000 + "' as t"
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    connection.request("GET", f"/sql?q={quote(query)}")
    assert connection.getresponse().status == 200
    connection.close()
