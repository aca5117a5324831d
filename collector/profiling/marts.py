"""Write the rows of a batch into the marts of a warehouse, and run the tests on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import duckdb

from collector.cache import cache_dir
from collector.errors import FileError, InvariantError
from collector.profiling.manifest import CompiledModel, Plan
from collector.profiling.plan import load_plan
from collector.suggestions import first_names
from collector.temporary_files import temporary_folder
from collector.warehouse.access import OFFLINE, SCRATCH, WAREHOUSE, attach
from collector.warehouse.sql import known_columns, literal, quote_name

EMPTY = "empty"
PROFILE_AGAIN = "profile the runs again into a new warehouse"
BATCH_RUNS = f"select run_id from {SCRATCH}.staging.stg_runs"


def build_marts(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Replace the rows of the batch's runs in every mart of a warehouse that is prepared."""
    is_known = connection.execute(
        f"select run_id from {WAREHOUSE}.main.runs where run_id in ({BATCH_RUNS}) limit 1"
    ).fetchone()
    if is_known:
        forget_comparisons(
            connection, plan, f"run_id in ({BATCH_RUNS}) or baseline_run_id in ({BATCH_RUNS})"
        )
    for model in plan.batch("marts"):
        progress(model.name)
        if is_known:
            connection.execute(f"delete from {model.relation} where run_id in ({BATCH_RUNS})")
        insert_rows(connection, model)


def forget_comparisons(connection: duckdb.DuckDBPyConnection, plan: Plan, condition: str) -> None:
    """Delete the comparisons that meet a condition: they are made again, or no longer hold."""
    for model in plan.comparison("marts"):
        connection.execute(f"delete from {model.relation} where {condition}")


def insert_rows(connection: duckdb.DuckDBPyConnection, model: CompiledModel) -> None:
    """Insert the rows that a mart's query returns."""
    names = ", ".join(quote_name(column.name) for column in model.columns)
    connection.execute(
        f"insert into {model.relation} ({names}) select {names} from ({model.sql}) as batch"
    )


def prepare(connection: duckdb.DuckDBPyConnection, plan: Plan, warehouse: Path) -> None:
    """Create the tables and views that the warehouse lacks, by copying those of an empty one.

    The empty warehouse is cached, because its hundreds of comments take longer to write than the
    rows of a small run. Raise FileError if another version of Spotter made the warehouse.
    """
    script = ";\n".join(_missing(plan, {}))
    digest = hashlib.sha256(f"{duckdb.__version__} {script}".encode()).hexdigest()[:16]
    path = cache_dir() / f"empty-{digest}.duckdb"
    if not path.exists():
        # another process may write the same file: the last complete one stays
        with temporary_folder(path.parent) as folder:
            draft = folder / path.name
            with duckdb.connect(config=OFFLINE) as empty:
                attach(empty, draft)
                empty.execute(script)
            draft.replace(path)
    connection.execute(f"attach {literal(path)} as {EMPTY} (type duckdb, read_only)")
    relations = _relations(connection)
    if WAREHOUSE not in relations:
        connection.execute(f"copy from database {EMPTY} to {WAREHOUSE} (schema)")
    elif not relations[EMPTY] <= relations[WAREHOUSE]:
        refuse_other_version(connection, warehouse, database=WAREHOUSE)
        for statement in _missing(plan, known_columns(connection, WAREHOUSE)):
            connection.execute(statement)


def check_marts(
    connection: duckdb.DuckDBPyConnection, warehouse: Path, *, database: str | None = None
) -> None:
    """Raise FileError if a warehouse with marts lacks one, or has one with other columns."""
    refuse_other_version(connection, warehouse, database=database)
    known = known_columns(connection, database)
    missing = [model.name for model in load_plan().layer("marts") if model.name not in known]
    if missing:
        raise FileError(
            f"{warehouse} lacks {first_names(missing)}: dbt built only some of its models, or"
            f" another version of Spotter did\n  what to do: {PROFILE_AGAIN}"
        )


def refuse_other_version(
    connection: duckdb.DuckDBPyConnection, warehouse: Path, *, database: str | None = None
) -> None:
    """Raise FileError if a mart has other columns than those of this version."""
    known = known_columns(connection, database)
    for model in load_plan().layer("marts"):
        columns = {column.name for column in model.columns}
        if model.name in known and model.materialized != "view" and known[model.name] != columns:
            raise FileError(
                f"{warehouse} was made by another version of Spotter: the columns of"
                f" {model.name} differ\n  what to do: {PROFILE_AGAIN}"
            )


def _relations(connection: duckdb.DuckDBPyConnection) -> dict[str, set[tuple[str, str]]]:
    """Return the tables and views of each database: their schema and `create` statement."""
    rows = connection.execute(
        "select database_name, schema_name, sql from duckdb_tables()"
        " union all select database_name, schema_name, sql from duckdb_views()"
    )
    relations: dict[str, set[tuple[str, str]]] = {}
    for database, schema, sql in rows.fetchall():
        relations.setdefault(database, set()).add((schema, sql))
    return relations


def _missing(plan: Plan, known: Collection[str]) -> Iterator[str]:
    """Yield the statements that add missing schemas and tables, and replace all views."""
    yield f"create schema if not exists {WAREHOUSE}.exports"
    for model in plan.layer("marts"):
        if model.materialized != "view" and model.name not in known:
            columns = ", ".join(
                f"{quote_name(column.name)} {column.data_type} {column.constraints}"
                for column in model.columns
            )
            yield f"create table {model.relation} ({columns})"
            yield from comments(model, model.relation)
    for model in plan.views():
        yield f"create or replace view {model.relation} as {model.sql}"
        if model.layer == "marts":
            yield from comments(model, model.relation)


def comments(model: CompiledModel, relation: str) -> Iterator[str]:
    """Yield the statements that store the descriptions of a mart and its columns as comments."""
    kind = "view" if model.materialized == "view" else "table"
    yield f"comment on {kind} {relation} is {literal(model.description)}"
    for column in model.columns:
        name = f"{relation}.{quote_name(column.name)}"
        yield f"comment on column {name} is {literal(column.description)}"


def run_checks(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Run the project's singular tests on the batch; raise InvariantError on the first failure."""
    for check in plan.checks:
        progress(check.name)
        rows = connection.execute(f"select * from ({check.sql}) limit 10").fetchall()
        if rows:
            raise InvariantError(
                f"the profile contradicts itself ({check.name}): {rows}\n"
                "  nothing was written. This is a bug in Spotter: please report it"
            )
