"""Models in memory are built after what they read, and dropped when nothing reads them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from collector.profiling.building import build_models, drop_unread
from collector.profiling.manifest import CompiledModel


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def model(name: str, sql: str) -> CompiledModel:
    return CompiledModel(
        name=name,
        layer="intermediate",
        room="core",
        materialized="table",
        relation=f'"memory"."main"."{name}"',
        sql=sql,
        description="",
        columns=(),
        meta={},
        key=(),
    )


def sum_of(*names: str) -> str:
    tables = " union all ".join(f'select n from "memory"."main"."{name}"' for name in names)
    return f"select cast(sum(n) + 1 as bigint) as n from ({tables})"


DIAMOND = [
    model("bottom", sum_of("left", "right", "top")),
    model("left", sum_of("top")),
    model("right", sum_of("top")),
    # a name that begins like another one
    model("top_2", sum_of("bottom")),
    model("top", "select 1 as n"),
    model("alone", "select 7 as n"),
]


def tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in connection.execute("show tables").fetchall()}


def test_models_are_built_after_what_they_read(connection: duckdb.DuckDBPyConnection) -> None:
    built: list[str] = []
    build_models(connection, DIAMOND, progress=built.append)
    assert sorted(built) == sorted(one.name for one in DIAMOND)
    assert built.index("top") < built.index("left") < built.index("bottom") < built.index("top_2")
    assert connection.execute("select n from top_2").fetchall() == [(7,)]


def test_models_are_built_again(connection: duckdb.DuckDBPyConnection) -> None:
    for _ in range(2):
        build_models(connection, DIAMOND, progress=lambda _: None)
    assert connection.execute("select n from bottom").fetchall() == [(6,)]


def test_the_error_of_a_model_ends_the_build(connection: duckdb.DuckDBPyConnection) -> None:
    models = [
        model("top", "select error('the gate is closed') as n"),
        model("bottom", sum_of("top")),
    ]
    with pytest.raises(duckdb.InvalidInputException, match="the gate is closed"):
        build_models(connection, models, progress=lambda _: None)
    assert tables(connection) == set()
    assert connection.execute("select 1").fetchall() == [(1,)]


def test_only_tables_that_something_reads_are_kept(connection: duckdb.DuckDBPyConnection) -> None:
    build_models(connection, DIAMOND, progress=lambda _: None)
    drop_unread(connection, DIAMOND, [sum_of("left", "top_2"), sum_of("alone")])
    assert tables(connection) == {"left", "top_2", "alone"}
