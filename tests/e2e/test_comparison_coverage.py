"""Intervals of comparisons hold as often as they claim, and verdicts err as seldom."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.simulated_comparisons import Design, Outcome, simulate

ALPHA = 0.05
MARGIN = 0.05
PAIRS = 40
SIZES = [(tasks, repeats) for tasks in (20, 50, 200) for repeats in (1, 2, 4, 16)]
EQUAL = [Design(tasks, repeats) for tasks, repeats in SIZES]
# on average, the candidate is better by the margin; a task moves by more or less than that
MOVED = [Design(tasks, repeats, shift=MARGIN, spread=0.1) for tasks, repeats in SIZES]
# a share of simulated pairs may leave its band by chance, once in two thousand times
CHANCE = 1 / 2000


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[Design, Outcome]:
    path = tmp_path_factory.mktemp("coverage") / "warehouse.duckdb"
    found = simulate(path, [*EQUAL, *MOVED], pairs=PAIRS, margin=MARGIN, seed=18)
    return {outcome.design: outcome for outcome in found}


def allowed(lowest: float, highest: float, count: int) -> tuple[float, float]:
    """The shares that a true share between the two may show among this many pairs."""
    low = stats.binom.ppf(CHANCE, count, lowest) / count
    return float(low), float(stats.binom.ppf(1 - CHANCE, count, highest) / count)


@pytest.mark.parametrize("repeats", [1, 2, 4, 16])
def test_intervals_for_tasks_like_these_hold(repeats: int, outcomes: dict[Design, Outcome]) -> None:
    chosen = [found.coverage for design, found in outcomes.items() if design.repeats == repeats]
    low, high = allowed(0.93, 0.97, len(chosen) * PAIRS)
    assert low <= sum(chosen) / len(chosen) <= high


@pytest.mark.parametrize("repeats", [2, 4, 16])
def test_intervals_for_these_tasks_again_hold(
    repeats: int, outcomes: dict[Design, Outcome]
) -> None:
    chosen = [
        found.fixed_coverage
        for design, found in outcomes.items()
        if design.repeats == repeats and found.fixed_coverage is not None
    ]
    low, high = allowed(0.93, 0.97, len(chosen) * PAIRS)
    assert len(chosen) == 6
    assert low <= sum(chosen) / len(chosen) <= high


def test_one_repeat_says_nothing_about_these_tasks_again(
    outcomes: dict[Design, Outcome],
) -> None:
    assert all(
        (found.fixed_coverage is None) == (design.repeats == 1)
        for design, found in outcomes.items()
    )


def test_equal_agents_are_seldom_better_or_worse(outcomes: dict[Design, Outcome]) -> None:
    rejected = [outcomes[design].rejected for design in EQUAL]
    assert sum(rejected) / len(rejected) <= ALPHA + 0.01


def test_a_difference_of_the_margin_is_seldom_equivalent(outcomes: dict[Design, Outcome]) -> None:
    equivalent = [outcomes[design].equivalent for design in MOVED if design.tasks == 200]
    assert sum(equivalent) / len(equivalent) <= ALPHA + 0.01


def test_large_comparisons_find_what_there_is(outcomes: dict[Design, Outcome]) -> None:
    """The bounds above would hold for verdicts that never decide."""
    assert outcomes[Design(200, 16)].equivalent > 0.9
    assert outcomes[Design(200, 16, shift=MARGIN, spread=0.1)].rejected > 0.8
