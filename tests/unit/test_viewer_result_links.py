"""Ids in the result of a query become links, if it is clear what they name."""

from __future__ import annotations

import pytest

from collector.viewer.links import Links
from collector.viewer.marts.result_links import result_links

RUN, TASK = "/run?run=r", "/task?run=r&task=3"
ROLLOUT = "/rollout?run=r&task=3&rollout=0"
CASES = {
    "all three": (["run_id", "task_index", "rollout_index"], ["r", "3", "0"], [RUN, TASK, ROLLOUT]),
    "in any order and case": (["TASK_INDEX", "Run_ID"], ["3", "r"], [TASK, RUN]),
    "of a baseline": (["baseline_task_index", "baseline_run_id"], ["3", "r"], [TASK, RUN]),
    "a task without its run": (["task_index"], ["3"], [None]),
    "a run that is unknown": (["run_id", "task_index"], ["q", "3"], [None, None]),
    "a task that is not an index": (["run_id", "task_index"], ["r", "3.5"], [RUN, None]),
    "a rollout without its task": (["run_id", "rollout_index"], ["r", "0"], [RUN, None]),
    "nulls": (["run_id", "task_index"], [None, None], [None, None]),
}


@pytest.mark.parametrize(("columns", "row", "expected"), CASES.values(), ids=CASES)
def test_ids_are_links(
    columns: list[str], row: list[str | None], expected: list[str | None]
) -> None:
    found = result_links(columns, {"r", "s"}, Links())(row)
    assert [found.get(place) for place in range(len(row))] == expected


def test_a_task_needs_no_run_if_there_is_only_one() -> None:
    assert result_links(["task_index"], {"r"}, Links())(["3"]) == {0: TASK}
