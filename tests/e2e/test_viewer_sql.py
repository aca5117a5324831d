"""The SQL page: what it answers, and what nobody gets out of it."""

from __future__ import annotations

import csv
import html
import http.client
import io
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.support import MARTS, Profiled, key, profiled, run_command, write_run
from tests.viewers import Watched, viewing

SECRET = "hunter2"  # noqa: S105
COLUMNS = ", ".join(f"repeat('é', 9999) as c{number}" for number in range(40))
COPIES = ", ".join(f"t as t{number}" for number in range(75))
WIDE = f"with t as (select {COLUMNS}) select * from range(9), {COPIES}"
LINKED = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("viewer-sql")
    rows = [key(t, 0, reward=t / 4, note="<b>x</b>") for t in range(3)]
    made = profiled(write_run(folder, rows, inputs=[key(t, 0, q="q") for t in range(3)]))
    (folder / "secret.csv").write_text(f"a,b\n{SECRET},2\n", encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def viewer(run: Profiled) -> Iterator[Watched]:
    with viewing(cwd=run.rollouts.parent) as watched:
        yield watched


def ask(viewer: Watched, query: str, **given: dict[str, str]) -> httpx.Response:
    return viewer.get("/sql", params={"q": query}, **given)


def message(answer: httpx.Response) -> str:
    """What the page says is wrong."""
    found = re.search(r'<pre class="message"[^>]*>(.*?)</pre>', answer.text, re.DOTALL)
    assert found, answer.text
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


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
    for mart in MARTS:
        assert f"<code>{mart}</code>" in answer.text
    assert "One row per" in answer.text
    examples = re.findall(r'<li><a href="(/sql[^"]+)">', answer.text)
    assert len(examples) >= 5
    for example in examples:
        shown = viewer.get(html.unescape(example))
        assert shown.status_code == 200, shown.text
        assert "Result</h2>" in shown.text


def test_every_table_can_be_looked_at(viewer: Watched) -> None:
    links = re.findall(r'<a href="(/sql[^"]+)">Look at it', viewer.get("/sql").text)
    assert len(links) == len(MARTS)
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


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selec 1", "LINE 1: selec 1"),
        ("select 1,\n  nope\nfrom runs", "LINE 2:   nope"),
        ("-- nothing", "there is no query"),
        (";", "there is no query"),
        ("select 1; select 2", "one query at a time"),
        ("select 1; drop table runs", "one query at a time"),
        ("select 1 /* ; */; --\n delete from runs", "one query at a time"),
        ("select $1", "parameters"),
        ("pivot runs on run_id using count(*)", "a pivot needs its values"),
    ],
)
def test_says_what_is_wrong(query: str, said: str, viewer: Watched) -> None:
    answer = ask(viewer, query)
    assert answer.status_code == 400
    assert said in message(answer)


@pytest.mark.parametrize(
    "query",
    [
        "describe runs",
        "show tables",
        "summarize runs",
        "from runs",
        "values (1)",
        "explain select 1",
        "explain (format json) select 1",
        "/* c */ explain -- d\n analyze select 1",
        "select 1;",
        "with a as (select 1 as b) select * from a",
        "select now(), current_date, uuid(), interval 1 day, '\\xff'::blob, {'a': [1, null]}",
        "select '\0' as nothing",
    ],
)
def test_answers_every_kind_of_query(query: str, viewer: Watched) -> None:
    assert ask(viewer, query).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "from read_text('{folder}/secret.csv')",
        "from read_blob('{folder}/secret.csv')",
        "from read_csv('{folder}/secret.csv')",
        "from read_csv('secret.csv')",
        "from read_json('{folder}/run.jsonl')",
        "from read_json_objects('{folder}/run.jsonl')",
        "from sniff_csv('{folder}/secret.csv')",
        "from parquet_metadata('{folder}/secret.csv')",
        "from '{folder}/secret.csv'",
        "select * from '{folder}/*.csv'",
        "from glob('{folder}/*')",
        "from query('from read_text(''{folder}/secret.csv'')')",
        "from query_table('{folder}/secret.csv')",
        "from json_execute_serialized_sql("
        "json_serialize_sql('from read_text(''{folder}/secret.csv'')'))",
        "from read_blob('/proc/self/environ')",
        "from read_text('/proc/1/environ')",
        "from read_text('/dev/stdin')",
        "from read_duckdb('{folder}/warehouse.duckdb')",
        "from read_csv('http://127.0.0.1:{port}/stolen')",
        "from 'http://127.0.0.1:{port}/stolen.csv'",
        "from read_text('s3://bucket/key')",
        "select getenv('SPOTTER_TEST_SECRET')",
        "copy runs to '{folder}/stolen.csv'",
        "copy (select 1) to '{folder}/warehouse.duckdb' (format csv, use_tmp_file false)",
        "copy runs from '{folder}/secret.csv'",
        "explain analyze copy runs to '{folder}/stolen.csv'",
        "explain /* select */ (analyze) copy runs to '{folder}/stolen.csv'",
        "explain analyze create temp table t as select 1",
        "explain analyze delete from runs",
        "explain analyze set threads = 1",
        "export database '{folder}/stolen'",
        "import database '{folder}'",
        "attach '{folder}/stolen.duckdb'",
        "attach '{folder}/warehouse.duckdb' as other (read_only)",
        "detach warehouse",
        "use memory",
        "install httpfs",
        "load httpfs",
        "load '{folder}/evil.duckdb_extension'",
        "update extensions",
        "set memory_limit = '100GB'",
        "set lock_configuration = false",
        "reset disabled_filesystems",
        "pragma threads = 8",
        "pragma database_list",
        "call pragma_version()",
        "call enable_logging()",
        "from enable_logging('QueryLog', storage = 'file', storage_path = '{folder}/stolen')",
        "from enable_profiling('json', save_location = '{folder}/stolen')",
        "from create_external_resource('x')",
        "create temp table t as select 1",
        "create table t as select 1",
        "create view v as select 1",
        "create macro m() as 1",
        "create secret s (type s3)",
        "create or replace temp macro runs() as 1",
        "insert into runs select * from runs",
        "update runs set run_id = 'x'",
        "delete from runs",
        "drop table runs",
        "alter table runs rename to walks",
        "truncate runs",
        "vacuum",
        "analyze",
        "checkpoint",
        "force checkpoint",
        "begin transaction",
        "prepare p as select 1",
        "execute p",
        "set variable x = 1",
        "comment on table runs is 'x'",
        "with t as (delete from runs returning *) select * from t",
        "with t as (update runs set run_id = 'x' returning *) select * from t",
        "with t as (insert into runs select * from runs returning *) select * from t",
        "with t as (copy runs to '{folder}/stolen.csv') select * from t",
        "from request",
        "select * from python_map_function()",
        "select * from arrow_scan(1, 2, 3)",
        "select * from pandas_scan(140000000000000)",
    ],
)
def test_reaches_nothing_but_the_marts(query: str, run: Profiled, viewer: Watched) -> None:
    folder = run.rollouts.parent
    before = sorted(path.name for path in folder.iterdir())
    answer = ask(viewer, query.replace("{folder}", str(folder)).replace("{port}", str(viewer.port)))
    assert answer.status_code == 400
    assert message(answer)
    assert SECRET not in answer.text
    assert sorted(path.name for path in folder.iterdir()) == before
    assert run.query("select count(*) from runs") == [(1,)]


@pytest.mark.parametrize(
    "query",
    [
        "select name, value from duckdb_settings()",
        "from duckdb_secrets()",
        "from duckdb_variables()",
        "from pg_settings",
        "from duckdb_logs()",
        "from duckdb_databases()",
    ],
)
def test_what_duckdb_tells_of_itself_holds_no_secret(query: str, viewer: Watched) -> None:
    answer = ask(viewer, query)
    home = str(Path.home())
    assert SECRET not in answer.text
    assert f"{home}/.duckdb" not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "select repeat('x', 2000000000)",
        "select repeat('x', 400000000)",
        "select list_sum(range(100000000))",
        "select * from range(200000000) t(a) order by hash(a)",
        "select string_agg(repeat('x', 1000000), '') from range(2000)",
        "select " + "(" * 8_000 + "1" + ")" * 8_000,
        "select " + "-".join(["1"] * 8_000),
        WIDE,
    ],
    ids=["string", "one cell", "list", "sort", "aggregate", "depth", "terms", "wide rows"],
)
def test_a_query_that_is_too_large_is_stopped(query: str, viewer: Watched) -> None:
    answer = ask(viewer, query)
    assert answer.status_code == 400
    assert message(answer)
    assert ask(viewer, "select 1").status_code == 200


def test_a_page_of_hidden_characters_stays_small(viewer: Watched) -> None:
    columns = ", ".join(f"repeat(chr(8238) || '<', 100) as c{number}" for number in range(50))
    answer = ask(viewer, f"select {columns} from range(1000)")
    assert answer.status_code == 200
    assert "The first " in answer.text
    assert len(answer.content) < 20_000_000


def test_a_query_that_takes_too_long_is_stopped(viewer: Watched) -> None:
    # DuckDB does not notice in the middle of this that it should stop
    answer = ask(viewer, "select levenshtein(repeat('a', 300000), repeat('b', 300000))")
    assert answer.status_code == 400
    assert "longer than 10 seconds" in message(answer)
    assert viewer.children() == []


def test_a_crowd_waits_and_is_told(viewer: Watched) -> None:
    answers: list[int] = []

    def hold() -> None:
        answers.append(ask(viewer, "select sleep_ms(6500)").status_code)

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    _wait_for_workers(viewer, 2)
    answer = ask(viewer, "select 1")
    assert answer.status_code == 503
    assert "2 queries are running already" in answer.text
    assert viewer.get("/").status_code == 200  # other pages do not wait
    for thread in threads:
        thread.join()
    assert answers == [200, 200]


def test_a_closed_window_ends_its_query(viewer: Watched) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    connection.request("GET", f"/sql?q={quote('select sleep_ms(9000)')}")
    _wait_for_workers(viewer, 1)
    connection.close()
    _wait_for_workers(viewer, 0, seconds=8)


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


def test_a_download_is_whole_or_none(viewer: Watched) -> None:
    whole = viewer.get("/sql.csv", params={"q": "select * from range(1000000)"})
    assert whole.text.count("\n") == 1_000_001
    for query in (
        "select * from range(1000001)",
        "select repeat('x', 1000) from range(1000000)",
        "select case when range = 500000 then error('late') else '1' end from range(600000)",
        "with recursive t as (select 1 as a union all select a + 1 from t) select count(*) from t",
        "selec 1",
    ):
        answer = viewer.get("/sql.csv", params={"q": query})
        assert answer.status_code == 400, query
        assert answer.headers["content-type"].startswith("text/html")
    assert viewer.get("/sql.csv").status_code == 400


def test_line_ends_of_a_form_are_lines(viewer: Watched) -> None:
    assert "LINE 2: nope" in message(ask(viewer, "select\r\nnope"))


def test_a_long_query_is_answered(viewer: Watched) -> None:
    query = "select '" + "x" * 100_000 + "' as t"
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    connection.request("GET", f"/sql?q={quote(query)}")
    assert connection.getresponse().status == 200
    connection.close()


def _wait_for_workers(viewer: Watched, count: int, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while len(viewer.children()) != count:
        assert time.monotonic() < deadline
        time.sleep(0.05)
