"""`spotter curate --plan`: which tasks need how many more rollouts, and what that is worth."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from collector.profiling.manifest import SELECTION
from collector.profiling.plan import load_plan
from collector.warehouse.scratch import open_scratch
from tests import reference
from tests.curated_runs import curate, rows_of, write_pool
from tests.support import Row, read_json

HALF = [1.0, 0.0] * 8
Record = tuple[int, int]
"""Rollouts and passes."""
Chances = Mapping[Record, tuple[int, float]]
"""Further rollouts of undecided records, and the chance to be decided by them."""
MOST = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with decided and undecided tasks; the first plan profiles it."""
    path = tmp_path_factory.mktemp("plan")
    tasks = {"decided": HALF, "one of four": [1.0, 0.0, 0.0, 0.0], "all of four": [1.0] * 4}
    write_pool(path, {**tasks, "masked": [1.0, 0.0, 0.0, None, 0.0]})
    return path


def planned(folder: Path, *options: str) -> tuple[Row, list[Row]]:
    """Plan, and return the figures and the lines of the plan."""
    words = ("pool.jsonl", "--plan", "plan.jsonl", "--overwrite", "--json", *options)
    result = curate(*words, cwd=folder)
    assert result.returncode == 0, result.stderr
    return read_json(result.stdout), rows_of(folder / "plan.jsonl")


def test_a_plan_names_the_smallest_number_that_can_decide(folder: Path) -> None:
    figures, lines = planned(folder)
    by_task = {line["task_index"]: line for line in lines}
    assert set(by_task) == {1, 2, 3}
    # 2 of 5 has the Wilson interval 0.118 … 0.769; the next rollout passes with chance 2 in 6
    assert (by_task[1]["more_rollouts"], by_task[1]["num_repeats"]) == (1, 5)
    assert by_task[1]["chance_decided"] == pytest.approx(2 / 6)
    # the masked rollout counts in num_repeats, which is the number in all
    assert (by_task[3]["rollouts"], by_task[3]["num_repeats"]) == (4, 6)
    # 4 of 7 is the first that clears 0.9: three failures after four passes
    assert by_task[2]["more_rollouts"] == 3
    assert by_task[2]["chance_decided"] == pytest.approx(1 * 2 * 3 / (6 * 7 * 8))
    assert figures["undecided"] == 3
    assert figures["expected_decisions"] == pytest.approx(
        sum(line["chance_decided"] for line in lines)
    )


def test_a_budget_takes_the_cheapest_decisions(folder: Path) -> None:
    figures, lines = planned(folder, "--budget", "2")
    assert [line["task_index"] for line in lines] == [1, 3]
    assert figures["planned_rollouts"] == 2
    _, lines = planned(folder, "--budget", "110 tokens")
    assert [line["task_index"] for line in lines] == [
        1
    ]  # task 1: 101 tokens a rollout, task 3: 103
    assert planned(folder, "--budget", "0")[1] == []


def test_a_plan_needs_an_interval_and_a_readable_budget(folder: Path) -> None:
    (folder / "r.yml").write_text("keep: {pass_rate: [0, 1], decided_on: point}", encoding="utf-8")
    refused = {
        ("--recipe", "r.yml", "--plan", "p.jsonl"): "--plan needs `decided_on: interval`",
        ("--plan", "p.jsonl", "--budget", "many"): "write it like 500",
        ("--plan", "p.jsonl", "-o", "x.jsonl"): "give either --output",
        ("-o", "x.jsonl", "--budget", "5"): "give --plan too",
        (): "give either --output",
    }
    for options, message in refused.items():
        result = curate("pool.jsonl", *options, cwd=folder)
        assert result.returncode == 2
        assert message in result.stderr
        assert not (folder / "p.jsonl").exists()


@functools.cache
def is_decided(record: Record) -> bool:
    """Whether `keep: {pass_rate: [0.1, 0.9]}` can judge a record."""
    count, passes = record
    low, high = reference.wilson(passes, count)
    return high < 0.1 or low > 0.9 or (low >= 0.1 and high <= 0.9)


@pytest.fixture(scope="module")
def chances(tmp_path_factory: pytest.TempPathFactory) -> Chances:
    """What the models say of a run in which every record of up to 40 rollouts is undecided."""
    with open_scratch("1GB", tmp_path_factory.mktemp("spill")) as connection:
        connection.execute(
            "create table scratch.staging.stg_recipes as"
            " select 0.1 as lowest_pass_ratio, 0.9 as highest_pass_ratio"
        )
        connection.execute(
            "create table scratch.main.selected_tasks as select n as rollout_count,"
            " k as pass_count, 'undecided' as reason"
            f" from range(0, {MOST + 1}) as a (n), range(0, {MOST + 1}) as b (k) where k <= n"
        )
        sql = next(
            model.sql for model in load_plan().room(SELECTION) if model.name == "int_topup_chances"
        )
        rows = connection.execute(
            f"select rollout_count, pass_count, more_rollouts, chance from ({sql}) as chances"
        ).fetchall()
    return {(count, passes): (more, chance) for count, passes, more, chance in rows}


def _drawn(rng: random.Random, record: Record, rate: float, more: int) -> Record:
    return record[0] + more, record[1] + sum(rng.random() < rate for _ in range(more))


def _top_up(
    rng: random.Random, chances: Chances, records: list[Record], rates: list[float], budget: int
) -> list[Record]:
    """Plan and run again and again, as a user would, until the budget is used up."""
    records = list(records)
    while True:
        open_ones = [
            (more / chance, task, more)
            for task, record in enumerate(records)
            if record in chances and not is_decided(record)
            for more, chance in [chances[record]]
        ]
        plan = sorted(open_ones)[: max(1, len(open_ones) // 4)]
        if not plan or plan[0][2] > budget:
            return records
        for _, task, more in plan:
            if more <= budget:
                budget -= more
                records[task] = _drawn(rng, records[task], rates[task], more)


@pytest.mark.parametrize("shape", [(1.0, 1.0), (0.5, 0.5), (0.4, 1.2)])
def test_plans_decide_more_than_uniform_repeats_with_60_percent_of_the_rollouts(
    chances: Chances, shape: tuple[float, float]
) -> None:
    rng = random.Random(7)
    rates = [rng.betavariate(*shape) for _ in range(600)]
    first = [_drawn(rng, (0, 0), rate, 4) for rate in rates]
    uniform = [_drawn(rng, record, rate, 12) for record, rate in zip(first, rates, strict=True)]
    topped = _top_up(rng, chances, first, rates, budget=int(0.6 * 12 * len(rates)))
    counts = [sum(map(is_decided, records)) for records in (uniform, topped)]
    assert counts[1] >= counts[0], counts
