"""What nobody gets out of the SQL page: anything but the marts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.queries import SECRET, ask, make_queried, message
from tests.sandboxes import Message, ask_all
from tests.shared_folders import made_once
from tests.support import Profiled
from tests.viewers import Watched, viewing

WRONG = {
    "selec 1": "LINE 1: selec 1",
    "select 1,\n  nope\nfrom runs": "LINE 2:   nope",
    "-- nothing": "there is no query",
    ";": "there is no query",
    "select 1; select 2": "one query at a time",
    "select 1; drop table runs": "one query at a time",
    "select 1 /* ; */; --\n delete from runs": "one query at a time",
    "select $1": "parameters",
    "pivot runs on run_id using count(*)": "write the values of the pivot",
}
ANSWERED = (
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
)
# by why they reach nothing but the marts
REFUSED = {
    "queries can read the tables of the warehouse, not files": (
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
        "from 'http://127.0.0.1:{port}/stolen.csv'",
        "with t as (copy runs to '{folder}/stolen.csv') select * from t",
    ),
    "requires the extension httpfs": (
        "from read_csv('http://127.0.0.1:{port}/stolen')",
        "from read_text('s3://bucket/key')",
    ),
    "only queries are allowed": (
        "copy runs to '{folder}/stolen.csv'",
        "copy (select 1) to '{folder}/warehouse.duckdb' (format csv, use_tmp_file false)",
        "copy runs from '{folder}/secret.csv'",
        "export database '{folder}/stolen'",
        "import database '{folder}'",
        "attach '{folder}/stolen.duckdb'",
        "attach '{folder}/warehouse.duckdb' as other (read_only)",
        "detach warehouse",
        "use memory",
        "install httpfs",
        "load httpfs",
        "load '{folder}/evil.duckdb_extension'",
        "set memory_limit = '100GB'",
        "set lock_configuration = false",
        "reset disabled_filesystems",
        "pragma threads = 8",
        "pragma database_list",
        "call pragma_version()",
        "call enable_logging()",
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
    ),
    "only queries can be explained": (
        "explain analyze copy runs to '{folder}/stolen.csv'",
        "explain /* select */ (analyze) copy runs to '{folder}/stolen.csv'",
        "explain analyze create temp table t as select 1",
        "explain analyze delete from runs",
        "explain analyze set threads = 1",
    ),
    "read-only mode": (
        "with t as (delete from runs returning *) select * from t",
        "with t as (update runs set run_id = 'x' returning *) select * from t",
        "with t as (insert into runs select * from runs returning *) select * from t",
    ),
    "Cannot change configuration option": (
        "from enable_logging('QueryLog', storage = 'file', storage_path = '{folder}/stolen')",
        "from enable_profiling('json', save_location = '{folder}/stolen')",
    ),
    "does not exist": ("select getenv('SPOTTER_TEST_SECRET')", "from request"),
    "unknown resource type": ("from create_external_resource('x')",),
    "requires a subquery": ("select * from python_map_function()",),
    "No function matches": (
        "select * from arrow_scan(1, 2, 3)",
        "select * from pandas_scan(140000000000000)",
    ),
    # DuckDB has no name for this kind of statement in Python
    "exit code 1": ("update extensions",),
}
TOLD = (
    "select name, value from duckdb_settings()",
    "from duckdb_secrets()",
    "from duckdb_variables()",
    "from pg_settings",
    "from duckdb_logs()",
    "from duckdb_databases()",
)
# what the whole way through the server adds: no environment, and no files
THROUGH_THE_SERVER = (
    "from read_csv('{folder}/secret.csv')",
    "from read_blob('/proc/self/environ')",
    "from 'http://127.0.0.1:{port}/stolen.csv'",
    "select getenv('SPOTTER_TEST_SECRET')",
    "copy runs to '{folder}/stolen.csv'",
    "explain analyze copy runs to '{folder}/stolen.csv'",
    "update extensions",
    "delete from runs",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return make_queried(tmp_path_factory.mktemp("viewer-sql"))


@pytest.fixture(scope="module")
def viewer(run: Profiled) -> Iterator[Watched]:
    with viewing(cwd=run.rollouts.parent) as watched:
        yield watched


def filled(query: str, run: Profiled, port: int = 9) -> str:
    return query.replace("{folder}", str(run.rollouts.parent)).replace("{port}", str(port))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A run whose warehouse was asked everything, and beside it what the sandbox said."""
    folder = made_once(tmp_path_factory, "sql-answers", _ask_everything)
    return Profiled(folder / "queried" / "run.jsonl")


def _ask_everything(folder: Path) -> None:
    run = make_queried(folder / "queried")
    refused = [filled(query, run) for queries in REFUSED.values() for query in queries]
    queries = [*WRONG, *ANSWERED, *refused, *TOLD]
    before = sorted(path.name for path in run.rollouts.parent.iterdir())
    found = ask_all(run.warehouse, queries, folder)
    assert sorted(path.name for path in run.rollouts.parent.iterdir()) == before
    assert run.query("select count(*) from runs") == [(1,)]
    (folder / "answers.json").write_text(json.dumps(found), encoding="utf-8")


@pytest.fixture(scope="module")
def answers(asked: Profiled) -> dict[str, list[Message]]:
    """What the sandbox says to each query; nothing is changed by any of them."""
    file = asked.rollouts.parent.parent / "answers.json"
    found: dict[str, list[Message]] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("query", "said"), WRONG.items(), ids=WRONG)
def test_says_what_is_wrong(query: str, said: str, answers: dict[str, list[Message]]) -> None:
    (told,) = answers[query]
    assert told["kind"] == "query"
    assert said in told["error"]


@pytest.mark.parametrize("query", ANSWERED)
def test_answers_every_kind_of_query(query: str, answers: dict[str, list[Message]]) -> None:
    columns, *_, end = answers[query]
    assert columns["columns"]
    assert end == {"is_done": True}


@pytest.mark.parametrize(
    ("query", "said"),
    [(query, said) for said, queries in REFUSED.items() for query in queries],
)
def test_reaches_nothing_but_the_marts(
    query: str, said: str, asked: Profiled, answers: dict[str, list[Message]]
) -> None:
    found = answers[filled(query, asked)]
    assert said in found[-1]["error"]
    assert not any("rows" in message for message in found)
    assert SECRET not in str(found)


@pytest.mark.parametrize("query", THROUGH_THE_SERVER)
def test_the_page_reaches_nothing_but_the_marts(query: str, run: Profiled, viewer: Watched) -> None:
    folder = run.rollouts.parent
    before = sorted(path.name for path in folder.iterdir())
    answer = ask(viewer, filled(query, run, viewer.port))
    assert answer.status_code == 400
    (said,) = (said for said, queries in REFUSED.items() if query in queries)
    assert said in message(answer)
    assert SECRET not in answer.text
    assert sorted(path.name for path in folder.iterdir()) == before
    assert run.query("select count(*) from runs") == [(1,)]


@pytest.mark.parametrize("query", TOLD)
def test_what_duckdb_tells_of_itself_holds_no_secret(
    query: str, answers: dict[str, list[Message]], viewer: Watched
) -> None:
    assert answers[query][-1] == {"is_done": True}
    told = str(answers[query]) + ask(viewer, query).text
    assert SECRET not in told
    assert f"{Path.home()}/.duckdb" not in told
