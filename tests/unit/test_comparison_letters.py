"""Letters of a leaderboard."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from collector.comparing.letters import compact_letters


def _pairs(text: str) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in text.split()]


@pytest.mark.parametrize(
    ("names", "separated", "letters"),
    [
        ("ABC", "", {"A": "a", "B": "a", "C": "a"}),
        ("ABC", "AB AC BC", {"A": "a", "B": "b", "C": "c"}),
        ("ABC", "AC", {"A": "a", "B": "ab", "C": "b"}),
        ("ABCD", "AC AD BD", {"A": "a", "B": "ab", "C": "bc", "D": "c"}),
        ("ABC", "AB BC", {"A": "a", "B": "b", "C": "a"}),
    ],
    ids=["all alike", "all apart", "a chain", "a longer chain", "the middle one apart"],
)
def test_runs_share_a_letter_unless_they_are_separated(
    names: str, separated: str, letters: dict[str, str]
) -> None:
    assert compact_letters(list(names), _pairs(separated)) == letters


def test_letters_say_exactly_which_random_pairs_are_separated() -> None:
    rng = random.Random(7)
    names = list("ABCDEFG")
    for _ in range(200):
        pairs = [frozenset(pair) for pair in combinations(names, 2)]
        separated = [pair for pair in pairs if rng.random() < 0.4]
        letters = compact_letters(names, separated)
        for pair in pairs:
            one, other = pair
            assert bool(set(letters[one]) & set(letters[other])) == (pair not in separated)
