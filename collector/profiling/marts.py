"""Write a batch into the marts of a warehouse, and check what was written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator

import duckdb

from collector.cache import cache_dir
from collector.errors import InvariantError
from collector.profiling.manifest import Model, Plan
from collector.warehouse.access import OFFLINE, SCRATCH, WAREHOUSE, attach
from collector.warehouse.sql import known_columns, literal, quoted

EMPTY = "empty"
VIEW_LAYERS = ("exports", "semantic")
BATCH_RUNS = f"select run_id from {SCRATCH}.staging.stg_runs"


def build_marts(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Replace the batch's rows in every mart, and refresh the views on them."""
    _prepare(connection, plan)
    is_known = connection.execute(
        f"select run_id from {WAREHOUSE}.main.runs where run_id in ({BATCH_RUNS}) limit 1"
    ).fetchone()
    for model in plan.layer("marts"):
        progress(model.name)
        if is_known:
            connection.execute(f"delete from {model.relation} where run_id in ({BATCH_RUNS})")
        names = ", ".join(quoted(column.name) for column in model.columns)
        connection.execute(
            f"insert into {model.relation} ({names}) select {names} from ({model.sql}) as batch"
        )


def _prepare(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Give the warehouse all tables and views, as an empty one has them.

    An empty one lies in the cache: its hundreds of comments take longer to write than a small run.
    """
    script = ";\n".join(_changes(plan, {}))
    digest = hashlib.sha256(f"{duckdb.__version__} {script}".encode()).hexdigest()[:16]
    path = cache_dir() / f"empty-{digest}.duckdb"
    if not path.exists():
        # another process may be doing the same: the last complete file wins
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        with duckdb.connect(config=OFFLINE) as empty:
            attach(empty, draft)
            empty.execute(script)
        draft.replace(path)
    connection.execute(f"attach {literal(path)} as {EMPTY} (type duckdb, read_only)")
    relations = _relations(connection)
    if WAREHOUSE not in relations:
        connection.execute(f"copy from database {EMPTY} to {WAREHOUSE} (schema)")
    elif not relations[EMPTY] <= relations[WAREHOUSE]:
        for statement in _changes(plan, known_columns(connection, WAREHOUSE)):
            connection.execute(statement)


def _relations(connection: duckdb.DuckDBPyConnection) -> dict[str, set[tuple[str, str]]]:
    """Return the tables and views of every database, each with the statement that makes it."""
    rows = connection.execute(
        "select database_name, schema_name, sql from duckdb_tables()"
        " union all select database_name, schema_name, sql from duckdb_views()"
    )
    relations: dict[str, set[tuple[str, str]]] = {}
    for database, schema, sql in rows.fetchall():
        relations.setdefault(database, set()).add((schema, sql))
    return relations


def _changes(plan: Plan, known: dict[str, set[str]]) -> Iterator[str]:
    """Give the statements that create what is not known yet, and the views anew."""
    for schema in VIEW_LAYERS:
        yield f"create schema if not exists {WAREHOUSE}.{schema}"
    for model in plan.layer("marts"):
        yield from _table_changes(model, known.get(model.name, set()))
    for model in plan.layer(*VIEW_LAYERS):
        yield f"create or replace view {model.relation} as {model.sql}"


def _table_changes(model: Model, known: set[str]) -> Iterator[str]:
    """Create a mart with its contract, or add the columns a newer version brought."""
    added = [column for column in model.columns if column.name not in known]
    if not known:
        columns = ", ".join(
            f"{quoted(column.name)} {column.data_type} {column.constraints}" for column in added
        )
        yield f"create table {model.relation} ({columns})"
    for column in added if known else ():
        yield f"alter table {model.relation} add column {quoted(column.name)} {column.data_type}"
    if added:
        yield from comments(model, model.relation)


def comments(model: Model, relation: str) -> Iterator[str]:
    """Give the statements that write what a mart and its columns mean into the database."""
    yield f"comment on table {relation} is {literal(model.description)}"
    for column in model.columns:
        name = f"{relation}.{quoted(column.name)}"
        yield f"comment on column {name} is {literal(column.description)}"


def run_checks(
    connection: duckdb.DuckDBPyConnection, plan: Plan, *, progress: Callable[[str], None]
) -> None:
    """Run the conservation tests on the batch; a violation rolls everything back."""
    for check in plan.checks:
        progress(check.name)
        rows = connection.execute(f"select * from ({check.sql}) limit 10").fetchall()
        if rows:
            raise InvariantError(
                f"the profile contradicts itself ({check.name}): {rows}\n"
                "  this is a defect of Spotter, please report it; nothing was written"
            )
