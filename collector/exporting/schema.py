"""Describe exported files for programs, as a data package of Frictionless Data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from collector import __version__
from collector.exporting.tables import MartTable, column_type
from collector.profiling.manifest import ModelColumn
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
    tables: Sequence[MartTable],
    *,
    file_format: str,
    paths: Mapping[str, str],
    is_partitioned: bool,
) -> None:
    """Write the description of the files in a folder; `paths` are their names by mart."""
    package = {
        "name": PACKAGE,
        "profile": "tabular-data-package",
        "title": "Marts of a Spotter warehouse",
        "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "resources": [
            _resource(table, file_format, paths[table.name], is_partitioned=is_partitioned)
            for table in tables
        ],
    }
    (folder / NAME).write_bytes(orjson.dumps(package, option=orjson.OPT_INDENT_2))


def _resource(
    table: MartTable, file_format: str, path: str, *, is_partitioned: bool
) -> dict[str, Any]:
    # a mart without rows has no partitions
    partitions = {"partitionedBy": ["run_id"]} if is_partitioned and table.row_count else {}
    guard = {"formulaGuard": GUARD} if file_format == "csv" else {}
    return {
        "name": table.name,
        "path": path,
        "mediatype": MEDIA[file_format],
        "encoding": "utf-8",
        "description": table.model.description,
        "rows": table.row_count,
        **partitions,
        **guard,
        "schema": {
            "fields": [_field(table, column) for column in table.columns],
            "primaryKey": list(table.model.key),
            "missingValues": [""],
        },
    }


def _field(table: MartTable, column: ModelColumn) -> dict[str, Any]:
    required = {"constraints": {"required": True}} if column.name in table.model.key else {}
    return {
        "name": column.name,
        "type": column_type(column),
        "duckdbType": column.data_type.upper(),
        **({"contentMediaType": "application/json"} if column.is_json else {}),
        "description": column.description,
        **required,
    }
