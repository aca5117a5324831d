"""What people write to filter a column, as a condition for SQL."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from collector.warehouse.sql import Row

EXAMPLES = "a number, >0.5, <=3, 0.2..0.8 or none"
RANGE = re.compile(r"\s*(\S+?)\s*\.\.\s*(\S+)\s*")
COMPARISON = re.compile(r"\s*(<=|>=|<|>|=|!=)?\s*(\S+)\s*")
# in some languages 0,5 is a half, and to take it for 5 would be wrong without a word
THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Column:
    """A column of a table: what it is called, how it is filtered, and where it comes from."""

    name: str
    label: str
    kind: Literal["number", "text", "choice", "flag", "moment"] = "number"
    hint: str = ""
    choices: tuple[str, ...] = ()


def expected(column: Column) -> str:
    """Say what can be written to filter by a column."""
    return "yes, no or none" if column.kind == "flag" else EXAMPLES


def condition(column: Column, wanted: str) -> tuple[str, Row]:
    """Return the condition that somebody wrote for a column, and its values."""
    name = f"f_{column.name}"
    # a text may well say so itself
    if wanted.lower() == "none" and column.kind not in ("text", "choice"):
        return f"{column.name} is null", {}
    conditions = {
        "text": f"contains(lower({column.name}), lower(${name}))",
        "moment": f"contains({column.name}::varchar, ${name})",
        "choice": f"{column.name} = ${name}",
        "flag": f"{column.name} = ${name}",
    }
    if column.kind in conditions:
        return conditions[column.kind], {name: _flag(wanted) if column.kind == "flag" else wanted}
    return _numeric_condition(column.name, name, wanted)


def _numeric_condition(column: str, name: str, wanted: str) -> tuple[str, Row]:
    between = RANGE.fullmatch(wanted)
    if between:
        bounds = {f"{name}_low": _number(between[1]), f"{name}_high": _number(between[2])}
        return f"{column} between ${name}_low and ${name}_high", bounds
    compared = COMPARISON.fullmatch(wanted)
    if not compared:
        raise ValueError(wanted)
    return f"{column} {compared[1] or '='} ${name}", {name: _number(compared[2])}


def _number(text: str) -> float:
    value = float(text.replace(",", "") if THOUSANDS.fullmatch(text) else text)
    if not math.isfinite(value):
        raise ValueError(text)
    # DuckDB has no whole numbers beyond 128 bits
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _flag(text: str) -> bool:
    flags = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]
