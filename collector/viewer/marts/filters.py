"""Translates what users write into a column's filter into an SQL condition."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from collector.warehouse.sql import Row

EXAMPLES = "a number, >0.5, <=3, 0.2..0.8 or none"
RANGE = re.compile(r"\s*(\S+?)\s*\.\.(<?)\s*(\S+)\s*")
COMPARISON = re.compile(r"\s*(<=|>=|<|>|=|!=)?\s*(\S+)\s*")
# some languages write one half as 0,5: reading that as 5 would be silently wrong
THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class ListingColumn:
    """A column of a table: its name in SQL, its label, and how users can filter it."""

    name: str
    label: str
    kind: Literal["number", "text", "choice", "flag", "moment"] = "number"
    hint: str = ""
    choices: tuple[str, ...] = ()
    is_minor: bool = False
    """Whether narrow screens leave the column out."""


def filter_examples(column: ListingColumn) -> str:
    """Return examples of what users can write to filter by a column."""
    return "yes, no or none" if column.kind == "flag" else EXAMPLES


def condition(column: ListingColumn, text: str) -> tuple[str, Row]:
    """Return the SQL condition for a filter text, and its values; raise ValueError if unclear."""
    name = f"f_{column.name}"
    # in a text column, "none" may be part of the text
    if text.lower() == "none" and column.kind not in ("text", "choice"):
        return f"{column.name} is null", {}
    conditions = {
        "text": f"contains(lower({column.name}), lower(${name}))",
        "moment": f"contains({column.name}::varchar, ${name})",
        "choice": f"{column.name} = ${name}",
        "flag": f"{column.name} = ${name}",
    }
    if column.kind in conditions:
        return conditions[column.kind], {name: _flag(text) if column.kind == "flag" else text}
    return _numeric_condition(column.name, name, text)


def _numeric_condition(column: str, name: str, text: str) -> tuple[str, Row]:
    limits = RANGE.fullmatch(text)
    if limits:
        bounds = {f"{name}_low": _number(limits[1]), f"{name}_high": _number(limits[3])}
        if limits[2]:  # a bar of a histogram does not include its upper bound
            return f"{column} >= ${name}_low and {column} < ${name}_high", bounds
        return f"{column} between ${name}_low and ${name}_high", bounds
    comparison = COMPARISON.fullmatch(text)
    if not comparison:
        raise ValueError(text)
    return f"{column} {comparison[1] or '='} ${name}", {name: _number(comparison[2])}


def _number(text: str) -> float:
    value = float(text.replace(",", "") if THOUSANDS.fullmatch(text) else text)
    if not math.isfinite(value):
        raise ValueError(text)
    # DuckDB has no integers beyond 128 bits
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _flag(text: str) -> bool:
    flags = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]
