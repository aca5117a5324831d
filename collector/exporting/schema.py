"""Describe exported files for programs: a data package, as Frictionless Data specifies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from collector import __version__
from collector.exporting.tables import Table, kind_of
from collector.spreadsheets import GUARD

NAME = "schema.json"
PACKAGE = "spotter-export"
MEDIA = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    "jsonl": "application/x-ndjson",
}


def write_schema(
    folder: Path,
    tables: Sequence[Table],
    *,
    kind: str,
    places: Mapping[str, str],
    is_partitioned: bool,
) -> None:
    """Write what the files of a folder hold."""
    package = {
        "name": PACKAGE,
        "profile": "tabular-data-package",
        "title": "Marts of a Spotter warehouse",
        "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "resources": [
            _resource(table, kind, places[table.name], is_partitioned=is_partitioned)
            for table in tables
        ],
    }
    (folder / NAME).write_bytes(orjson.dumps(package, option=orjson.OPT_INDENT_2))


def _resource(table: Table, kind: str, path: str, *, is_partitioned: bool) -> dict[str, Any]:
    # a mart without rows has no partitions
    partitions = {"partitionedBy": ["run_id"]} if is_partitioned and table.row_count else {}
    guard = {"formulaGuard": GUARD} if kind == "csv" else {}
    return {
        "name": table.name,
        "path": path,
        "mediatype": MEDIA[kind],
        "encoding": "utf-8",
        "description": table.model.description,
        "rows": table.row_count,
        **partitions,
        **guard,
        "schema": {
            "fields": [_field(table, column.name) for column in table.columns],
            "primaryKey": list(table.model.key),
            "missingValues": [""],
        },
    }


def _field(table: Table, name: str) -> dict[str, Any]:
    (column,) = (column for column in table.columns if column.name == name)
    required = {"constraints": {"required": True}} if name in table.model.key else {}
    return {
        "name": name,
        "type": kind_of(column),
        "duckdbType": column.data_type.upper(),
        **({"contentMediaType": "application/json"} if column.is_json else {}),
        "description": column.description,
        **required,
    }
