"""Tables that SQL sorts, filters and splits into pages; the address holds their state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any

from collector.viewer.marts.filters import ListingColumn, condition, filter_examples
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

PAGE_ROWS = 50
FILTER = "f."
START_CHARACTERS = 600
"""How much of a long text a table reads."""
SORTED_CHARACTERS = 100
# if several marts describe a column, the first of the marts counts
MEANINGS = """
    select column_name, comment from duckdb_columns()
    where schema_name = 'main' and comment is not null and list_contains($marts, table_name)
    order by list_position($marts, table_name) desc
"""


@dataclass(frozen=True)
class ListingState:
    """The state of a table in the address: sort order, page, search and filters."""

    sort: str
    is_descending: bool
    page: int
    search: str
    filters: Mapping[str, str]

    def values(self, **changes: Any) -> dict[str, Any]:
        """Return the parameters of an address for this state, with some of them changed."""
        parameters = {
            "q": self.search,
            "sort": ("-" if self.is_descending else "") + self.sort,
            "page": self.page if self.page > 1 else None,
            **{FILTER + name: value for name, value in self.filters.items()},
        }
        return {**parameters, **changes}

    def toggle_sort(self, name: str) -> dict[str, Any]:
        """Return the parameters that sort by a column; if it is sorted already, in reverse."""
        is_reversed = name == self.sort and not self.is_descending
        return self.values(sort=("-" if is_reversed else "") + name, page=None)


@dataclass(frozen=True)
class Listing:
    """One page of a table."""

    columns: tuple[ListingColumn, ...]
    state: ListingState
    rows: list[Row]
    total: int
    query: Query
    page_rows: int
    problems: list[str] = field(default_factory=list)
    meanings: Mapping[str, str] = field(default_factory=dict)
    """The descriptions of the columns, from the marts."""

    def has_column(self, name: str) -> bool:
        """Tell whether the table shows a column."""
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
class LongTexts:
    """Long texts of a table's rows, which are read for one page only and searched in their mart.

    As columns of the rows, the texts would pass through every join and sort and need too much
    memory. `rows` is a query that returns the key, which the table's rows have too, and the texts.
    """

    rows: str
    key: str
    names: tuple[str, ...]
    is_text: bool = True
    """Whether the values are texts, of which a table shows the beginnings; else numbers."""

    def start(self, characters: int, **columns: str) -> str:
        """Return a query of the key and the beginnings of texts, each under its new name."""
        start = "left({}, {})" if self.is_text else "{}"
        texts = [
            f"{start.format(column, characters)} as {name}" for name, column in columns.items()
        ]
        return f"select {self.key}, {', '.join(texts)}\nfrom {_block(self.rows)}"

    def where(self, condition: str) -> str:
        """Return the condition that a row's key is among the texts that meet a condition."""
        keys = f"select ({self.key})\nfrom {_block(self.rows)}\nwhere {condition}"
        return f"({self.key}) in {_block(keys)}"


@dataclass(frozen=True)
class ListingSource:
    """The columns of a table and the queries of its rows.

    `rows` is a query of all columns except for the long texts. `key` makes the order of rows
    unique. `search` is the expression that a search looks into.
    """

    columns: tuple[ListingColumn, ...]
    rows: str
    key: str
    search: str = ""
    default_sort: str = ""
    page_rows: int = PAGE_ROWS
    texts: tuple[LongTexts, ...] = ()
    marts: tuple[str, ...] = ()
    """The marts that describe the columns."""
    values: Row = field(default_factory=dict)
    """The values of `$names` in the queries of the rows and texts."""
    search_also: str = ""
    """A condition that a row may meet instead of the search in its texts."""

    def state(self, parameters: Mapping[str, str]) -> ListingState:
        """Return the state from the parameters of an address; unknown parameters are ignored."""
        names = {column.name for column in self.columns}
        sort = parameters.get("sort") or self.default_sort or self.columns[0].name
        name = sort.removeprefix("-")
        page = parameters.get("page", "")
        return ListingState(
            sort=name if name in names else self.columns[0].name,
            is_descending=sort.startswith("-"),
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 10 else 1,
            search=parameters.get("q", "").strip(),
            filters={
                key.removeprefix(FILTER): value.strip()
                for key, value in parameters.items()
                if key.startswith(FILTER) and value.strip() and key.removeprefix(FILTER) in names
            },
        )

    def read_page(self, reader: Reader, state: ListingState, values: Row) -> Listing:
        """Read one page of the table; a page beyond the last becomes the last."""
        where, filter_values, problems = self.where(state)
        if problems:
            query = Query(self.rows, values)
            return Listing(self.columns, state, [], 0, query, self.page_rows, problems)
        all_values = {**values, **self.values, **filter_values}
        count_sql = f"select count(*) as n from ({self.all_rows(state)}) where {where}"
        total = reader.row(Query(count_sql, all_values))
        count = total["n"] if total else 0
        last = max(1, math.ceil(count / self.page_rows))
        state = replace(state, page=min(state.page, last))
        query = Query(self._page_sql(state, where), all_values)
        rows, meanings = reader.rows(query), self._meanings(reader)
        return Listing(self.columns, state, rows, count, query, self.page_rows, meanings=meanings)

    def _page_sql(self, state: ListingState, where: str) -> str:
        order = f"order by {self.order(state)}"
        is_text = self._texts_of(state.sort) is not None
        # sorting by a text together with all other columns of all rows would fill the memory
        names = f"{self.key}, sorted_text" if is_text else "*"
        sql = (
            f"select {names}\nfrom {_block(self.all_rows(state))}\nwhere {where}\n{order}\n"
            f"limit {self.page_rows} offset {(state.page - 1) * self.page_rows}"
        )
        if not self.texts:
            return sql
        others = [f"inner join {_block(self.rows)}\nusing ({self.key})"] if is_text else []
        joins = "\n".join([*others, *(_page_join(texts) for texts in self.texts)])
        return f"select *\nfrom {_block(sql)}\n{joins}\n{order}"

    def _meanings(self, reader: Reader) -> dict[str, str]:
        rows = reader.rows(Query(MEANINGS, {"marts": list(self.marts)})) if self.marts else []
        return {row["column_name"]: row["comment"] for row in rows}

    def all_rows(self, state: ListingState) -> str:
        """Return the query of all rows, with the text that they are sorted by, if any."""
        texts = self._texts_of(state.sort)
        if texts is None:
            return self.rows
        start = _block(texts.start(SORTED_CHARACTERS, sorted_text=state.sort))
        join = f"left join {start}\nusing ({texts.key})"
        return f"select *\nfrom {_block(self.rows)}\n{join}"

    def order(self, state: ListingState) -> str:
        """Return the SQL order of the rows; it is unique, so that pages do not overlap."""
        direction = "desc" if state.is_descending else "asc"
        name = "sorted_text" if self._texts_of(state.sort) else state.sort
        return f"{name} {direction} nulls last, {self.key}"

    def where(self, state: ListingState) -> tuple[str, Row, list[str]]:
        """Return the SQL condition of the filters, its values, and messages for invalid filters."""
        conditions, values, problems = [], {}, []
        if state.search and self.search:
            contains = f"contains(lower({self.search}), lower($search))"
            found = self._condition_for(self.search, contains)
            conditions.append(f"({found} or {self.search_also})" if self.search_also else found)
            values["search"] = state.search
        for column in self.columns:
            text = state.filters.get(column.name)
            if text is None:
                continue
            try:
                column_condition, column_values = condition(column, text)
            except ValueError:
                examples = filter_examples(column)
                problems.append(f"{column.label}: {text!r} is not a filter; write {examples}")
                continue
            conditions.append(self._condition_for(column.name, column_condition))
            values.update(column_values)
        return " and ".join(conditions) or "true", values, problems

    def _condition_for(self, name: str, condition: str) -> str:
        """Return a condition on a column, which may be a long text in its own mart."""
        texts = self._texts_of(name)
        return texts.where(condition) if texts else condition

    def _texts_of(self, name: str) -> LongTexts | None:
        return next((texts for texts in self.texts if name in texts.names), None)


def _page_join(texts: LongTexts) -> str:
    start = texts.start(START_CHARACTERS, **{name: name for name in texts.names})
    return f"left join {_block(start)}\nusing ({texts.key})"


def _block(sql: str) -> str:
    """Return a query in brackets and indented, so that the query around it stays readable."""
    return f"(\n{indent(dedent(sql).strip(), '    ')}\n)"
