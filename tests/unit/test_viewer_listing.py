from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import (
    PAGE_ROWS,
    START_CHARACTERS,
    Listing,
    ListingSource,
    LongTexts,
)
from collector.viewer.marts.lists import TASK_LISTING
from collector.viewer.marts.store import Query, Reader, literal

SOURCE = ListingSource(
    columns=(
        ListingColumn("task", "Task"),
        ListingColumn("prompt", "Prompt", "text"),
        ListingColumn("ratio", "Ratio"),
        ListingColumn("band", "Band", "choice", choices=("solved", "unsolved")),
        ListingColumn("is_odd", "Odd", "flag"),
    ),
    rows="select * exclude (prompt) from tasks where run_id = $run",
    key="task",
    search="prompt",
    texts=(LongTexts("select task, prompt from tasks where run_id = $run", "task", ("prompt",)),),
)


@pytest.fixture
def reader() -> Iterator[Reader]:
    with duckdb.connect() as connection:
        connection.execute(
            "create table tasks as select 'r' as run_id, range as task,"
            " 'Task %_ ' || range as prompt,"
            " case when range % 4 then (range % 10) / 10 end as ratio,"
            " case when range < 60 then 'solved' else 'unsolved' end as band,"
            " range % 2 = 1 as is_odd from range(120)"
        )
        yield Reader(connection)


def listed(reader: Reader, **given: str) -> Listing:
    address = {name.replace("f_", "f."): value for name, value in given.items()}
    return SOURCE.read_page(reader, SOURCE.state(address), {"run": "r"})


def tasks_of(listing: Listing) -> list[int]:
    return [row["task"] for row in listing.rows]


def test_a_page_holds_so_many_rows_and_knows_how_many_there_are(reader: Reader) -> None:
    listing = listed(reader, page="2")
    assert tasks_of(listing) == list(range(PAGE_ROWS, 2 * PAGE_ROWS))
    assert (listing.first, listing.last, listing.total, listing.pages) == (51, 100, 120, 3)


def test_a_page_beyond_the_last_is_the_last(reader: Reader) -> None:
    listing = listed(reader, page="99")
    assert listing.state.page == 3
    assert tasks_of(listing) == list(range(100, 120))


@pytest.mark.parametrize("page", ["0", "-1", "x", "1e9", "٣", "9" * 30, ""])
def test_a_page_that_is_no_number_is_the_first(reader: Reader, page: str) -> None:
    assert listed(reader, page=page).state.page == 1


def test_every_row_is_on_exactly_one_page_of_a_tied_order(reader: Reader) -> None:
    found = [task for page in "123" for task in tasks_of(listed(reader, sort="-band", page=page))]
    assert sorted(found) == list(range(120))


@pytest.mark.parametrize("sort", ["ratio", "-ratio"])
def test_what_is_unknown_comes_last_either_way(reader: Reader, sort: str) -> None:
    assert listed(reader, sort=sort, page="3").rows[-1]["ratio"] is None
    assert listed(reader, sort=sort).rows[0]["ratio"] is not None


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (">0.8", {0.9}),
        (">= 0.8", {0.8, 0.9}),
        ("<0.2", {0.0, 0.1}),
        ("0.2..0.3", {0.2, 0.3}),
        ("0.5", {0.5}),
        ("=0.5", {0.5}),
        ("!=0.5", {0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9}),
        ("none", {None}),
        ("<1,000", {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}),
    ],
)
def test_numbers_are_filtered(reader: Reader, wanted: str, expected: set[float | None]) -> None:
    listing = listed(reader, f_ratio=wanted)
    assert {row["ratio"] for row in listing.rows} == expected
    assert not listing.problems


@pytest.mark.parametrize(
    "wanted", ["abc", "> ", "1..x", "nan", ">inf", "0,5", "1,00", "1; drop table tasks"]
)
def test_a_filter_nobody_understands_is_told_and_shows_nothing(reader: Reader, wanted: str) -> None:
    listing = listed(reader, f_ratio=wanted)
    assert listing.rows == []
    assert len(listing.problems) == 1
    assert "Ratio" in listing.problems[0]


def test_texts_choices_and_flags_are_filtered_together(reader: Reader) -> None:
    listing = listed(reader, f_band="solved", f_is_odd="yes", f_prompt="task %_ 5")
    assert tasks_of(listing) == [5, 51, 53, 55, 57, 59]


@pytest.mark.parametrize("wanted", ["none", "NONE"])
def test_a_text_or_a_choice_may_be_the_word_none(reader: Reader, wanted: str) -> None:
    assert listed(reader, f_prompt=wanted).total == 0
    assert listed(reader, f_band=wanted).total == 0


def test_a_choice_is_meant_exactly(reader: Reader) -> None:
    assert listed(reader, f_band="solved").total == 60


def test_long_texts_are_sorted_by_and_read_as_far_as_they_are_shown(reader: Reader) -> None:
    found = listed(reader, sort="-prompt").rows
    assert [row["prompt"] for row in found] == sorted(
        (f"Task %_ {number}" for number in range(120)), reverse=True
    )[:PAGE_ROWS]
    reader.rows(Query("update tasks set prompt = repeat('x', 5000) || task"))
    assert {len(row["prompt"]) for row in listed(reader).rows} == {START_CHARACTERS}
    assert tasks_of(listed(reader, q="x119")) == [119]


def test_a_table_of_long_prompts_takes_no_memory_for_them(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("set force_compression = 'uncompressed'")  # the fastest to write
        connection.execute(
            "create table task_profiles as select 'r' as run_id, range as task_index,"
            " 'a' as agent_name, md5(range::varchar) as task_id, 0 as missing_rollout_count,"
            " 0 as masked_rollout_count, 1.5 as total_tokens_mean,"
            " repeat(md5(range::varchar), 200) as prompt from range(30000)"
        )
        connection.execute(
            "create table task_bands as select run_id, task_index, agent_name, task_id,"
            " 4 as rollout_count, 0.5 as pass_ratio, 0.1 as pass_low, 0.9 as pass_high,"
            " 'learnable' as band, 0.25 as learnability, 0.5 as reward_mean, 0.5 as reward_std,"
            " 10.0 as output_tokens_mean from task_profiles"
        )
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": "64MB",
        "temp_directory": "",
        "threads": 1,
    }
    with duckdb.connect(str(path), read_only=True, config=config) as connection:
        for given in ({"page": "200"}, {"sort": "-pass_ratio", "q": "ab"}, {"sort": "prompt"}):
            state = TASK_LISTING.state(given)
            listing = TASK_LISTING.read_page(Reader(connection), state, {"run": "r"})
            assert len(listing.rows) == PAGE_ROWS


def test_the_search_takes_its_text_literally(reader: Reader) -> None:
    assert listed(reader, q="%_ 119").total == 1
    assert listed(reader, q="' or true --").total == 0


def test_an_address_cannot_name_columns_of_its_own(reader: Reader) -> None:
    state = SOURCE.state({"sort": "run_id; drop table tasks", "f.run_id": "x", "f.nope": "1"})
    assert state.sort == "task"
    assert state.filters == {}
    assert SOURCE.read_page(reader, state, {"run": "r"}).total == 120


def test_the_shown_query_gives_the_same_rows(reader: Reader) -> None:
    listing = listed(reader, q="task", f_ratio="0.2..0.7", f_prompt="1", sort="-ratio")
    assert listing.rows
    assert reader.rows(Query(listing.query.text)) == listing.rows


def test_the_state_of_an_address_survives_a_round_trip() -> None:
    given = {"q": "x", "sort": "-ratio", "page": "3", "f.band": "solved", "other": "1"}
    state = SOURCE.state(given)
    again = {name: str(value) for name, value in state.values().items() if value is not None}
    assert SOURCE.state(again) == state


def test_sorting_turns_round_at_the_second_click() -> None:
    state = SOURCE.state({"sort": "ratio", "page": "2"})
    assert state.toggle_sort("ratio")["sort"] == "-ratio"
    assert state.toggle_sort("task")["sort"] == "task"
    assert state.toggle_sort("task")["page"] is None


@pytest.mark.parametrize(
    "value", [None, True, 3, 0.25, "it's", "a\\b $run", ["x'", "y"], -1e300, 2**60, "\x00é"]
)
def test_a_literal_means_its_value(value: Any) -> None:
    with duckdb.connect() as connection:
        row = connection.execute(f"select {literal(value)}").fetchone()
    assert row is not None
    assert row[0] == value
