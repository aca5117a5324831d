"""Tables that SQL sorts, filters and cuts into pages, with their state in the address."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any

from collector.viewer.marts.filters import Column, condition, expected
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

PAGE_ROWS = 50
FILTER = "f."
START_CHARACTERS = 600
"""So much of a long text is read for a table."""
SORTED_CHARACTERS = 100
# the first of the marts has the last word
MEANINGS = """
    select column_name, comment from duckdb_columns()
    where schema_name = 'main' and comment is not null and list_contains($marts, table_name)
    order by list_position($marts, table_name) desc
"""


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
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What the columns mean, in the words of the marts."""

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
class Texts:
    """Long texts of a table's rows: looked into where they are, and read for one page only.

    As columns of the rows they would go through every join and sort, for which there is no memory.
    `rows` is a query of the key, which is found in the table's rows too, and of the texts.
    """

    rows: str
    key: str
    names: tuple[str, ...]

    def start(self, characters: int, **columns: str) -> str:
        """Return a query of the key and of how texts begin, each under the name it is given."""
        texts = [f"left({column}, {characters}) as {name}" for name, column in columns.items()]
        begun = ", ".join(texts)
        return f"select {self.key}, {begun}\nfrom {_block(self.rows)}"

    def where(self, condition: str) -> str:
        """Return the condition that a row's text is like that."""
        found = f"select ({self.key})\nfrom {_block(self.rows)}\nwhere {condition}"
        return f"({self.key}) in {_block(found)}"


@dataclass(frozen=True)
class Source:
    """Where the rows of a table come from.

    `rows` is a query with every column but for the long texts; `key` makes an order complete;
    `search` is the expression that a search looks into.
    """

    columns: tuple[Column, ...]
    rows: str
    key: str
    search: str = ""
    default_sort: str = ""
    page_rows: int = PAGE_ROWS
    texts: tuple[Texts, ...] = ()
    marts: tuple[str, ...] = ()
    """Where it is written what the columns mean."""

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
        listed = self.listed(state)
        total = reader.row(Query(f"select count(*) as n from ({listed}) where {where}", given))
        count = total["n"] if total else 0
        last = max(1, math.ceil(count / self.page_rows))
        state = replace(state, page=min(state.page, last))
        order = f"order by {self.order(state)}"
        is_text = self._texts_of(state.sort) is not None
        # sorted together with a text, all other columns of all rows would fill the memory
        names = f"{self.key}, sorted_text" if is_text else "*"
        sql = (
            f"select {names}\nfrom {_block(listed)}\nwhere {where}\n{order}\n"
            f"limit {self.page_rows} offset {(state.page - 1) * self.page_rows}"
        )
        if self.texts:
            others = [f"inner join {_block(self.rows)}\nusing ({self.key})"] if is_text else []
            joined = "\n".join([*others, *(_page_join(texts) for texts in self.texts)])
            sql = f"select *\nfrom {_block(sql)}\n{joined}\n{order}"
        query = Query(sql, given)
        rows, meanings = reader.rows(query), self._meanings(reader)
        return Listing(self.columns, state, rows, count, query, self.page_rows, meanings=meanings)

    def _meanings(self, reader: Reader) -> dict[str, str]:
        rows = reader.rows(Query(MEANINGS, {"marts": list(self.marts)})) if self.marts else []
        return {row["column_name"]: row["comment"] for row in rows}

    def listed(self, state: State) -> str:
        """Return the query of all rows, with what they are sorted by."""
        texts = self._texts_of(state.sort)
        if texts is None:
            return self.rows
        start = _block(texts.start(SORTED_CHARACTERS, sorted_text=state.sort))
        joined = f"left join {start}\nusing ({texts.key})"
        return f"select *\nfrom {_block(self.rows)}\n{joined}"

    def order(self, state: State) -> str:
        """Return the order of the rows, which is complete: the same on every page."""
        direction = "desc" if state.is_descending else "asc"
        name = "sorted_text" if self._texts_of(state.sort) else state.sort
        return f"{name} {direction} nulls last, {self.key}"

    def where(self, state: State) -> tuple[str, Row, list[str]]:
        """Return the condition of the filters, its values, and what cannot be understood."""
        conditions, values, problems = [], {}, []
        if state.search and self.search:
            found = f"contains(lower({self.search}), lower($search))"
            conditions.append(self._placed(self.search, found))
            values["search"] = state.search
        for column in self.columns:
            wanted = state.filters.get(column.name)
            if wanted is None:
                continue
            try:
                found, more = condition(column, wanted)
            except ValueError:
                problems.append(f"{column.label}: cannot read {wanted!r}; write {expected(column)}")
                continue
            conditions.append(self._placed(column.name, found))
            values.update(more)
        return " and ".join(conditions) or "true", values, problems

    def _placed(self, name: str, condition: str) -> str:
        """Return a condition for where its column is."""
        texts = self._texts_of(name)
        return texts.where(condition) if texts else condition

    def _texts_of(self, name: str) -> Texts | None:
        return next((texts for texts in self.texts if name in texts.names), None)


def _page_join(texts: Texts) -> str:
    start = texts.start(START_CHARACTERS, **{name: name for name in texts.names})
    return f"left join {_block(start)}\nusing ({texts.key})"


def _block(sql: str) -> str:
    """Write a query inside of another so that a person can read both."""
    return f"(\n{indent(dedent(sql).strip(), '    ')}\n)"
