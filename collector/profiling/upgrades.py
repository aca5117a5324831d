"""Bring the warehouse of an earlier version up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from collector.errors import FileError
from collector.profiling import marts
from collector.profiling.plan import load_plan
from collector.terminal import say
from collector.warehouse.access import OFFLINE, transaction
from collector.warehouse.queries import open_read_only
from collector.warehouse.scratch import log_defects

NEWEST = ("run_overviews", "reward_spreads")
"""The marts that were added last: a warehouse that has them has all others too."""


def is_up_to_date(connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether the database that a connection has open has all marts."""
    row = connection.execute(
        "select count(*) from duckdb_views()"
        " where schema_name = 'main' and list_contains(?, view_name)",
        [list(NEWEST)],
    ).fetchone()
    return row == (len(NEWEST),)


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
                if is_up_to_date(connection):
                    return
                marts.prepare(connection, load_plan())
        except FileError as error:
            raise FileError(
                f"{warehouse} was filled by an earlier version, and could not be brought up to"
                f" date: {error}\n  what to do: make it writable, or copy it"
            ) from error
    say(f"{warehouse} was filled by an earlier version: it now has the marts of this one")
