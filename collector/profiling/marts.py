"""Write the rows of a batch into the marts of a warehouse, and run the tests on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import duckdb

from collector.cache import cache_dir
from collector.errors import InvariantError
from collector.profiling.manifest import CompiledModel, Plan
from collector.temporary_files import temporary_folder
from collector.warehouse.access import OFFLINE, SCRATCH, WAREHOUSE, attach
from collector.warehouse.sql import known_columns, literal, quote_name

EMPTY = "empty"
VIEW_LAYERS = ("exports", "semantic")
# marts whose names have changed, with their old names
RENAMED = {"failure_classes": "failures", "metric_histograms": "reward_histograms"}
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


def prepare(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Create the tables and views that the warehouse lacks, by copying those of an empty one.

    The empty warehouse is cached, because its hundreds of comments take longer to write than the
    rows of a small run.
    """
    script = ";\n".join(_changes(plan, {}))
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
        _rename_marts(connection)
        _rename_columns(connection, plan)
        _change_types(connection, plan)
        for statement in _changes(plan, known_columns(connection, WAREHOUSE)):
            connection.execute(statement)


def _rename_marts(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the marts of an older warehouse their names of today, with all their rows."""
    known = known_columns(connection, WAREHOUSE)
    for name, old_name in RENAMED.items():
        if old_name in known and name not in known:
            connection.execute(f"alter table {WAREHOUSE}.main.{old_name} rename to {name}")


def _rename_columns(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Give the columns of an older warehouse their names of today."""
    known = known_columns(connection, WAREHOUSE)
    for model in plan.layer("marts"):
        for name, old_name in model.meta.get("renamed_columns", {}).items():
            columns = known.get(model.name, set())
            if old_name in columns and name not in columns:
                connection.execute(
                    f"alter table {model.relation} rename column {old_name} to {name}"
                )


def _change_types(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Give the columns of an older warehouse their types of today: counts are whole numbers."""
    rows = connection.execute(
        "select table_name, column_name, lower(data_type) from duckdb_columns()"
        " inner join duckdb_tables() using (database_name, schema_name, table_name)"
        " where database_name = ? and schema_name = 'main'",
        [WAREHOUSE],
    ).fetchall()
    types = {(table, column): data_type for table, column, data_type in rows}
    for model in plan.layer("marts"):
        for column in model.columns:
            if types.get((model.name, column.name)) == "double" and column.data_type == "bigint":
                name = quote_name(column.name)
                connection.execute(
                    f"alter table {model.relation} alter column {name} type bigint"
                    f" using try_cast(round({name}) as bigint)"
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


def _changes(plan: Plan, known: dict[str, set[str]]) -> Iterator[str]:
    """Yield the statements that add missing schemas, tables and columns and replace all views."""
    for schema in VIEW_LAYERS:
        yield f"create schema if not exists {WAREHOUSE}.{schema}"
    for model in plan.layer("marts"):
        if model.materialized != "view":
            yield from _table_changes(model, known.get(model.name, set()))
    for model in plan.views():
        yield f"create or replace view {model.relation} as {model.sql}"
        if model.layer == "marts":
            yield from comments(model, model.relation)


def _table_changes(model: CompiledModel, known: set[str]) -> Iterator[str]:
    """Yield the statements that create a mart, or that add the columns it lacks."""
    added = [column for column in model.columns if column.name not in known]
    if not known:
        columns = ", ".join(
            f"{quote_name(column.name)} {column.data_type} {column.constraints}" for column in added
        )
        yield f"create table {model.relation} ({columns})"
    for column in added if known else ():
        definition = f"{quote_name(column.name)} {column.data_type}"
        yield f"alter table {model.relation} add column {definition}"
    if added:
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
