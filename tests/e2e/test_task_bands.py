"""In which band a task is, and how many groups of its rollouts would teach something."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests import reference
from tests.random_runs import coin
from tests.support import Profiled, profile_agents

BANDS = {
    (16, 16): "solved",
    (15, 15): "undecided",
    (0, 16): "unsolved",
    (0, 15): "undecided",
    (1, 16): "undecided",
    (2, 4): "learnable",
    (1, 4): "undecided",
    (0, 4): "undecided",
    (4, 16): "learnable",
    (3, 16): "undecided",
}


@pytest.fixture(scope="module")
def banded(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    tasks = [[1.0] * passes + [0.0] * (count - passes) for passes, count in BANDS]
    return profile_agents(tmp_path_factory.mktemp("banded"), {"agent_a": tasks})


@pytest.mark.parametrize(("passes", "count"), BANDS)
def test_a_band_needs_the_whole_interval(passes: int, count: int, banded: Profiled) -> None:
    found = banded.query(
        "select band, pass_low, pass_high from task_bands"
        f" where pass_count = {passes} and rollout_count = {count}"
    )
    low, high = reference.wilson(passes, count)
    assert found == [(BANDS[passes, count], pytest.approx(low), pytest.approx(high))]


@pytest.mark.parametrize("repeats", [70, 300, 1100])
def test_shares_of_many_repeats_stay_exact(repeats: int, tmp_path: Path) -> None:
    rng = random.Random(repeats)
    rewards = [coin(rng) for _ in range(repeats)]
    (band,) = profile_agents(tmp_path, {"agent_a": [rewards]}).table("from task_bands")
    for size in reference.GROUP_SIZES:
        same = math.comb(rewards.count(0), size) + math.comb(rewards.count(1), size)
        share = 1 - Fraction(same, math.comb(repeats, size))
        assert band[f"informative_ratio_{size}"] == pytest.approx(float(share), abs=1e-9)
