"""Bring the warehouse of an earlier version up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from collector.errors import FileError
from collector.profiling import marts
from collector.profiling.plan import load_plan
from collector.terminal import say
from collector.warehouse.access import OFFLINE, WAREHOUSE, transaction
from collector.warehouse.queries import open_read_only
from collector.warehouse.scratch import log_defects
from collector.warehouse.sql import known_columns


def is_up_to_date(connection: duckdb.DuckDBPyConnection, database: str | None = None) -> bool:
    """Tell whether a database, or the one that the connection has open, has all marts."""
    name = database or str(connection.execute("select current_database()").fetchall()[0][0])
    known = known_columns(connection, name)
    return all(
        column.name in known.get(model.name, ())
        for model in load_plan().layer("marts")
        for column in model.columns
    )


def ensure_up_to_date(warehouse: Path, *, on_wait: Callable[[str], None]) -> None:
    """Bring a warehouse with marts up to date, unless it is."""
    with open_read_only(warehouse, on_wait=on_wait) as connection:
        row = connection.execute("select 1 from duckdb_tables() where table_name = 'runs'")
        if row.fetchone() is None or is_up_to_date(connection):
            return
    bring_up_to_date(warehouse, on_wait=on_wait)


def bring_up_to_date(warehouse: Path, *, on_wait: Callable[[str], None]) -> None:
    """Add the marts and columns that the warehouse lacks; what old runs lack is unknown."""
    with log_defects("upgrade"), duckdb.connect(config=OFFLINE) as connection:
        try:
            with transaction(connection, warehouse, on_wait=on_wait):
                if is_up_to_date(connection, WAREHOUSE):
                    return
                marts.prepare(connection, load_plan())
        except FileError as error:
            raise FileError(
                f"{warehouse} lacks marts or columns of this version, and could not be brought up"
                f" to date: {error}\n  what to do: make it writable, or copy it"
            ) from error
    say(f"{warehouse} lacked marts or columns of this version: it has them now")
