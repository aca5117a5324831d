"""`--until` draws repeats until the band of a task is decided, and is seldom wrong."""

from __future__ import annotations

import asyncio
import functools
import json
import random
from pathlib import Path

import pytest

from collector.collection.decisions import DecisionTable, decision_table
from collector.collection.requests import Request
from collector.collection.settings import CollectSettings, PlanSettings
from collector.collection.settings.stopping import StoppingRule
from collector.collection.state import RunState
from collector.collection.undecided import (
    FAILED,
    PASSED,
    UNMEASURED,
    RepeatIndex,
    Repeats,
    UndecidedRequests,
)
from collector.errors import UsageError
from collector.profiling.band_decisions import BandDecision
from collector.validation import validate_settings
from tests.support import key, write_lines

MOST = 48
BANDS = {"learnable": (0.1, 0.9), "solved": (0.8, 1.0), "unsolved": (0.0, 0.2)}
EARLY = DecisionTable([BandDecision(3, "solved", 3, 3), BandDecision(3, "unsolved", 0, 0)])


@functools.cache
def table_of(confidence: float) -> DecisionTable:
    return decision_table(StoppingRule(confidence, 1.0), MOST)


def is_wrong(band: str | None, rate: float) -> bool:
    return band is not None and not BANDS[band][0] <= rate <= BANDS[band][1]


def wrong_chance(table: DecisionTable, rate: float) -> float:
    """Return the exact chance of a wrong band, by way of every number of passes."""
    chances = {0: 1.0}
    wrong = 0.0
    for count in range(1, MOST + 1):
        following: dict[int, float] = {}
        for passes, chance in chances.items():
            for hit, share in ((0, 1 - rate), (1, rate)):
                following[passes + hit] = following.get(passes + hit, 0.0) + chance * share
        bands = {passes: table.band(count, passes) for passes in following}
        wrong += sum(
            chance for passes, chance in following.items() if is_wrong(bands[passes], rate)
        )
        chances = {p: chance for p, chance in following.items() if bands[p] is None}
    return wrong


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_the_chance_of_a_wrong_band_is_within_its_limit(confidence: float) -> None:
    """The worst rates are those just outside of a band."""
    rates = [step / 20 for step in range(21)] + [0.0999, 0.2001, 0.7999, 0.9001]
    worst = max(wrong_chance(table_of(confidence), rate) for rate in rates)
    assert 0 < worst <= 1 - confidence


@pytest.mark.parametrize("rate", [0.02, 0.09, 0.21, 0.5, 0.79, 0.91, 0.98])
def test_simulated_tasks_seldom_get_a_wrong_band(rate: float) -> None:
    chance = random.Random(19)
    bands = []
    for _ in range(1000):
        task = Repeats()
        task.states.extend(PASSED if chance.random() < rate else FAILED for _ in range(MOST))
        task.look(table_of(0.95))
        bands.append(task.band)
    assert sum(is_wrong(band, rate) for band in bands) <= 0.05 * len(bands)
    assert any(band for band in bands)


def test_the_decisions_do_not_depend_on_the_most_repeats() -> None:
    """So a run with more repeats later decides as before."""
    shorter = decision_table(StoppingRule(0.95, 1.0), 20)
    for count in range(1, 21):
        for passes in range(count + 1):
            assert shorter.band(count, passes) == table_of(0.95).band(count, passes)


def test_as_many_rollouts_as_any_decision_needs_may_run() -> None:
    table = table_of(0.95)
    assert table.rollouts_to_go(0, 0) == 6
    assert table.rollouts_to_go(6, 3) == 1
    assert table.rollouts_to_go(8, 8) == 5  # five failures, or eight more passes
    assert DecisionTable([]).rollouts_to_go(0, 0) is None


def write_inputs(folder: Path, tasks: int, repeats: int) -> Path:
    path = folder / "inputs.jsonl"
    write_lines(path, [key(task, index) for task in range(tasks) for index in range(repeats)])
    return path


def open_requests(
    inputs: Path, table: DecisionTable, parallel: int, state: RunState | None = None
) -> UndecidedRequests:
    index = RepeatIndex(inputs, state or RunState(), 3)
    return UndecidedRequests(inputs, index, table, parallel=parallel)


def drawn_keys(requests: UndecidedRequests) -> list[tuple[int, int]]:
    """Draw until there is something to wait for, or nothing left."""
    keys: list[tuple[int, int]] = []
    for item in requests:
        if isinstance(item, asyncio.Event):
            return keys
        keys.append(item.key)
    return keys


def test_repeats_are_drawn_round_by_round_and_no_further_than_needed(tmp_path: Path) -> None:
    requests = open_requests(write_inputs(tmp_path, 2, 9), EARLY, 2)
    rounds = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert drawn_keys(requests) == rounds
    for one in rounds:
        requests.note(one, is_pass=one[0] == 0)
    assert drawn_keys(requests) == []
    assert (requests.decided_count, requests.undrawn_count) == (2, 12)
    requests.close()


def test_more_workers_than_tasks_run_ahead(tmp_path: Path) -> None:
    requests = open_requests(write_inputs(tmp_path, 1, 9), EARLY, 5)
    assert len(drawn_keys(requests)) == 5
    requests.close()


def test_rollouts_are_looked_at_in_the_order_of_drawing(tmp_path: Path) -> None:
    """Three quick passes decide nothing while an earlier rollout still runs."""
    requests = open_requests(write_inputs(tmp_path, 1, 9), EARLY, 4)
    assert len(drawn_keys(requests)) == 4
    for index in (1, 2, 3):
        requests.note((0, index), is_pass=True)
    assert requests.decided_count == 0
    requests.note((0, 0), is_pass=False)
    assert requests.decided_count == 0
    requests.close()


def test_rollouts_that_measure_nothing_do_not_count(tmp_path: Path) -> None:
    requests = open_requests(write_inputs(tmp_path, 1, 9), EARLY, 1)
    outcomes = [True, None, True, None, True]
    for index, outcome in enumerate(outcomes):
        assert isinstance(next(requests), Request) or index
        drawn_keys(requests)
        requests.note((0, index), is_pass=outcome)
        assert requests.decided_count == (index == 4)
    requests.close()


def test_what_is_stored_decides_the_same_again(tmp_path: Path) -> None:
    state = RunState()
    for index in (0, 1, 2):
        state.done.add((0, index))
        state.note_pass((0, index), is_pass=True)
    state.done.add((1, 0))
    state.note_pass((1, 0), is_pass=None)
    state.note_failure((1, 1), is_terminal=False)
    requests = open_requests(write_inputs(tmp_path, 2, 6), EARLY, 1, state)
    assert (requests.decided_count, requests.undrawn_count) == (1, 3)
    first = next(requests)
    assert isinstance(first, Request)
    assert (first.key, first.attempt) == ((1, 1), 1)  # a failed one is tried again first
    assert drawn_keys(requests) == [(1, 2), (1, 3), (1, 4)]
    requests.close()


def test_states_without_a_measure_are_skipped() -> None:
    task = Repeats()
    task.states.extend([PASSED, UNMEASURED, PASSED, PASSED])
    task.look(EARLY)
    assert (task.band, task.rollout_count, task.place) == ("solved", 3, 4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"until": "decided"}, "write it like decided:0.95"),
        ({"until": "decided:95"}, "a confidence from 0.8 to 0.999"),
        ({"until": "decided:0.5"}, "a confidence from 0.8 to 0.999"),
        ({"until": "decided:nan"}, "write it like decided:0.95"),
        ({"until": "solved:0.95"}, "write it like decided:0.95"),
        ({"pass_threshold": 0.5}, "pass_threshold is for until"),
        ({"until": "decided:0.9", "pass_threshold": float("nan")}, "a finite number"),
        ({"until": "decided:0.9", "plan": "p", "resume_from_cache": True}, "leave out until"),
    ],
    ids=lambda value: json.dumps(value)[:30] if isinstance(value, dict) else "",
)
def test_a_rule_that_makes_no_sense_is_refused(settings: dict[str, object], message: str) -> None:
    given = {"output_jsonl_fpath": "out.jsonl", **settings}
    if "plan" not in settings:
        given["input_jsonl_fpath"] = "tasks.jsonl"
    with pytest.raises(UsageError, match=message):
        validate_settings(PlanSettings if "plan" in settings else CollectSettings, given)
