"""Quote names and texts for SQL, and fetch rows and column names."""

from __future__ import annotations

from typing import Any

import duckdb

Row = dict[str, Any]


def quote_name(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Return a text as an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, query: str, *parameters: str | list[str]
) -> list[Row]:
    """Run a query with its parameters and return its rows as dictionaries."""
    result = connection.execute(query, list(parameters))
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def known_columns(
    connection: duckdb.DuckDBPyConnection, database: str | None = None
) -> dict[str, set[str]]:
    """Return the columns of each mart of a database, or of the one that the connection has open."""
    rows = connection.execute(
        "select table_name, list(column_name) from duckdb_columns()"
        " where database_name = coalesce(?, current_database()) and schema_name = 'main'"
        " group by table_name",
        [database],
    ).fetchall()
    return {table: set(columns) for table, columns in rows}
