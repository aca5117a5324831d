"""Tables that SQL sorts, filters and cuts into pages, with their state in the address."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from collector.profiling.warehouse import Row
from collector.viewer.marts.store import Query, Reader

PAGE_ROWS = 50
FILTER = "f."
EXAMPLES = "a number, >0.5, <=3, 0.2..0.8 or none"
RANGE = re.compile(r"\s*(\S+?)\s*\.\.\s*(\S+)\s*")
COMPARISON = re.compile(r"\s*(<=|>=|<|>|=|!=)?\s*(\S+)\s*")


@dataclass(frozen=True)
class Column:
    """A column of a table: what it is called, how it is filtered, and where it comes from."""

    name: str
    label: str
    kind: Literal["number", "text", "choice", "flag", "moment"] = "number"
    hint: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """What the address says: how to sort, which page, what to search and to filter."""

    sort: str
    is_descending: bool
    page: int
    search: str
    filters: Mapping[str, str]

    def values(self, **changes: Any) -> dict[str, Any]:
        """Return the state for an address, with some of it changed."""
        given = {
            "q": self.search,
            "sort": ("-" if self.is_descending else "") + self.sort,
            "page": self.page if self.page > 1 else None,
            **{FILTER + name: value for name, value in self.filters.items()},
        }
        return {**given, **changes}

    def sorted_by(self, name: str) -> dict[str, Any]:
        """Return the state with the table sorted by a column, or the other way round."""
        is_turned = name == self.sort and not self.is_descending
        return self.values(sort=("-" if is_turned else "") + name, page=None)


@dataclass(frozen=True)
class Listing:
    """One page of a table."""

    columns: tuple[Column, ...]
    state: State
    rows: list[Row]
    total: int
    query: Query
    page_rows: int
    problems: list[str] = field(default_factory=list)

    def without(self, name: str) -> Listing:
        """Leave a column out that says the same in every row."""
        kept = tuple(column for column in self.columns if column.name != name)
        return replace(self, columns=kept)

    def has(self, name: str) -> bool:
        """Tell whether a column is shown."""
        return any(column.name == name for column in self.columns)

    @property
    def pages(self) -> int:
        """Return how many pages there are."""
        return max(1, math.ceil(self.total / self.page_rows))

    @property
    def first(self) -> int:
        """Return the number of the first row on the page."""
        return (self.state.page - 1) * self.page_rows + 1 if self.rows else 0

    @property
    def last(self) -> int:
        """Return the number of the last row on the page."""
        return (self.state.page - 1) * self.page_rows + len(self.rows)


@dataclass(frozen=True)
class Source:
    """Where the rows of a table come from.

    `rows` is a query with every column; `key` makes an order complete; `search` is the expression
    that a search looks into.
    """

    columns: tuple[Column, ...]
    rows: str
    key: str
    search: str = ""
    default_sort: str = ""
    page_rows: int = PAGE_ROWS

    def state(self, given: Mapping[str, str]) -> State:
        """Read the state from an address; what it does not know is left out."""
        names = {column.name for column in self.columns}
        sort = given.get("sort") or self.default_sort or self.columns[0].name
        name = sort.removeprefix("-")
        page = given.get("page", "")
        return State(
            sort=name if name in names else self.columns[0].name,
            is_descending=sort.startswith("-"),
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 10 else 1,
            search=given.get("q", "").strip(),
            filters={
                key.removeprefix(FILTER): value.strip()
                for key, value in given.items()
                if key.startswith(FILTER) and value.strip() and key.removeprefix(FILTER) in names
            },
        )

    def listing(self, reader: Reader, state: State, values: Row) -> Listing:
        """Read one page of the table."""
        where, found, problems = self.where(state)
        given = {**values, **found}
        if problems:
            query = Query(self.rows, values)
            return Listing(self.columns, state, [], 0, query, self.page_rows, problems)
        total = reader.row(Query(f"select count(*) as n from ({self.rows}) where {where}", given))
        count = total["n"] if total else 0
        last = max(1, math.ceil(count / self.page_rows))
        state = replace(state, page=min(state.page, last))
        query = Query(
            f"select * from ({self.rows})\nwhere {where}\norder by {self.order(state)}\n"
            f"limit {self.page_rows} offset {(state.page - 1) * self.page_rows}",
            given,
        )
        return Listing(self.columns, state, reader.rows(query), count, query, self.page_rows)

    def order(self, state: State) -> str:
        """Return the order of the rows, which is complete: the same on every page."""
        direction = "desc" if state.is_descending else "asc"
        return f"{state.sort} {direction} nulls last, {self.key}"

    def where(self, state: State) -> tuple[str, Row, list[str]]:
        """Return the condition of the filters, its values, and what cannot be understood."""
        conditions, values, problems = [], {}, []
        if state.search and self.search:
            conditions.append(f"contains(lower({self.search}), lower($search))")
            values["search"] = state.search
        for column in self.columns:
            wanted = state.filters.get(column.name)
            if wanted is None:
                continue
            try:
                condition, more = _condition(column, wanted)
            except ValueError:
                problems.append(
                    f"{column.label}: cannot read {wanted!r}; write "
                    + ("yes, no or none" if column.kind == "flag" else EXAMPLES)
                )
                continue
            conditions.append(condition)
            values.update(more)
        return " and ".join(conditions) or "true", values, problems


def _condition(column: Column, wanted: str) -> tuple[str, Row]:
    name = f"f_{column.name}"
    if wanted.lower() == "none":
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
    value = float(text.replace(",", ""))
    if not math.isfinite(value):
        raise ValueError(text)
    # DuckDB has no whole numbers beyond 128 bits
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _flag(text: str) -> bool:
    flags = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]
