"""Write names and texts for SQL, and read rows and columns."""

from __future__ import annotations

from typing import Any

import duckdb

Row = dict[str, Any]


def quoted(name: str) -> str:
    """Write a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Write a text for SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, query: str, parameter: str | list[str]
) -> list[Row]:
    """Run a query with one parameter and return its rows by column."""
    result = connection.execute(query, [parameter])
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def known_columns(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, set[str]]:
    """Return the columns of every mart that a database already has."""
    rows = connection.execute(
        "select table_name, list(column_name) from duckdb_columns()"
        " where database_name = ? and schema_name = 'main' group by table_name",
        [database],
    ).fetchall()
    return {table: set(columns) for table, columns in rows}
