"""Compare tables of two engines, row by row."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

TOLERANCE, SMALLEST = 1e-12, 1e-300
"""Relative and absolute: a logarithm may differ in its last bit, as may the smallest doubles."""
CLOCK = {"profiled_at", "compared_at"}
ENGINE = {"response_hash"}
"""Each engine has its own hash. It is compared with hashes of the same engine only."""


@dataclass(frozen=True)
class Table:
    """The readable rows of a table, in the order of all their columns that are not doubles."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def read_table(connection: duckdb.DuckDBPyConnection, source: str) -> Table:
    found = connection.execute(f"select * from {source} limit 0").description or []
    columns = sorted(name for name, *_ in found if name not in CLOCK | ENGINE)
    names = ", ".join(f'"{name}"' for name in columns)
    where = "where is_readable" if "is_readable" in columns else ""
    rows = connection.execute(f"select {names} from {source} {where}").fetchall()
    return Table(columns, sorted(rows, key=_place))


def _place(row: tuple[Any, ...]) -> tuple[str, ...]:
    """The cells that are equal to the last bit, so that rows of both engines meet."""
    return tuple(repr(cell) for cell in row if not isinstance(cell, float | str)) + tuple(
        cell for cell in row if isinstance(cell, str) and cell[:1] not in ("{", "[")
    )


def read_partitions(connection: duckdb.DuckDBPyConnection, folder: Path) -> Table:
    """The rows of a mart that Spark wrote; its runs are folders."""
    if not any(folder.rglob("*.parquet")):
        return Table([], [])
    keys = ["run_id"] + ["baseline_run_id"] * any(folder.glob("baseline_run_id=*"))
    types = ", ".join(f"{key}: varchar" for key in keys)
    files = f"'{folder}/**/*.parquet', hive_partitioning = true, hive_types = {{{types}}}"
    return read_table(connection, f"read_parquet({files}, union_by_name = true)")


def differences(expected: Table, found: Table) -> list[str]:
    """What is different, at most a few of each column."""
    if len(expected.rows) != len(found.rows):
        return [f"{len(expected.rows)} rows, but {len(found.rows)} on the other engine"]
    if expected.rows and expected.columns != found.columns:
        return [f"columns {expected.columns}, but {found.columns}"]
    problems: dict[str, list[str]] = {}
    for want, got in zip(expected.rows, found.rows, strict=True):
        for name, one, other in zip(expected.columns, want, got, strict=True):
            if not equal(one, other):
                problems.setdefault(name, []).append(f"{name}: {one!r} and {other!r} in {want[:6]}")
    return [problem for many in problems.values() for problem in many[:2]]


def equal(one: Any, other: Any) -> bool:
    """Whether two cells are equal: doubles nearly, JSON text once it is parsed."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=SMALLEST) or (
            math.isnan(one) and math.isnan(other)
        )
    if isinstance(one, str) and isinstance(other, str) and one[:1] in ("{", "[") and one != other:
        return equal_json(json.loads(one), json.loads(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(type(one) is type(other) and one == other)


def equal_json(one: Any, other: Any) -> bool:
    if isinstance(one, dict | list):
        return type(one) is type(other) and equal(_pairs(one), _pairs(other))
    return equal(one, other) if isinstance(one, float) else bool(one == other)


def _pairs(json_value: Any) -> Any:
    """Parsed JSON whose texts are not parsed again."""
    if isinstance(json_value, dict):
        return {key: _pairs(value) for key, value in json_value.items()}
    if isinstance(json_value, list):
        return [_pairs(value) for value in json_value]
    return (json_value,) if isinstance(json_value, str) else json_value
