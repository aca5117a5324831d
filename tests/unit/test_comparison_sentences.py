"""The verdict of a comparison in words."""

from __future__ import annotations

from typing import Any

import pytest

from collector.comparing.sentences import signed, verdict_notes, verdict_sentence
from collector.comparing.wording import p_text

ROW: dict[str, Any] = {
    "score": "mean_reward",
    "verdict": "inconclusive",
    "observed_verdict": "inconclusive",
    "obstacle": None,
    "task_count": 200,
    "unknown_rollout_count": 0,
    "difference": 0.012,
    "low": -0.01,
    "high": 0.034,
    "fixed_low": 0.002,
    "fixed_high": 0.022,
    "is_fixed_suite": False,
    "lowest_low": None,
    "highest_high": None,
    "noise_floor_std_error": None,
    "detectable_difference": 0.031,
    "tasks_needed": 1900,
    "repeats_needed": None,
    "tokens_needed": 2_500_000.0,
    "common_task_count": 200,
    "common_task_ratio": 1.0,
    "baseline_clean_ratio": 0.99,
    "clean_ratio": 0.9,
    "alpha": 0.05,
    "margin": 0.01,
    "cluster_by": None,
}
CASES = {
    "better": (
        {"verdict": "better", "low": 0.001},
        "B is better than A: its mean reward is 0.012 higher"
        " (95 % interval +0.001 … +0.034, 200 tasks).",
    ),
    "worse, of exactly these tasks": (
        {"verdict": "worse", "difference": -0.2, "is_fixed_suite": True, "score": "pass_rate"},
        "B is worse than A: its pass rate is 0.200 lower"
        " (95 % interval +0.002 … +0.022, 200 tasks).",
    ),
    "open": (
        {},
        "Inconclusive: the mean reward of B minus that of A is +0.012"
        " (95 % interval -0.010 … +0.034, 200 tasks), so B may be better or worse.",
    ),
    "open because of unknown rollouts": (
        {
            "observed_verdict": "better",
            "unknown_rollout_count": 1,
            "lowest_low": -0.1,
            "highest_high": 0.2,
        },
        "Inconclusive: the scored rollouts say better (+0.012; 95 % interval -0.010 … +0.034,"
        " 200 tasks), but 1 rollout without a score could change that (-0.100 … +0.200).",
    ),
    "unclean": (
        {"verdict": "not comparable", "obstacle": "clean_rates"},
        "Not comparable: 99.0 % of A's rollouts are clean, and 90.0 % of B's."
        " A verdict allows a difference of 5 points.",
    ),
    "no score": (
        {"difference": None, "low": None, "high": None, "task_count": 0},
        "Inconclusive: no task has a score in both runs.",
    ),
}


@pytest.mark.parametrize(("fields", "expected"), CASES.values(), ids=CASES)
def test_a_verdict_is_one_sentence(fields: dict[str, Any], expected: str) -> None:
    assert verdict_sentence({**ROW, **fields}) == expected


def test_an_open_verdict_says_what_would_settle_it() -> None:
    assert verdict_notes(ROW) == [
        "A comparison of this size finds a true difference of 0.031 in 80 % of cases."
        " To find the margin of 0.01: 1,900 tasks (about 2.5 million tokens more)."
    ]


def test_small_figures_are_not_rounded_to_nothing() -> None:
    assert [signed(value) for value in (None, 0.0, -0.0, 0.00004, -0.5)] == [
        *("–", "0.000", "0.000", "+4.0e-05", "-0.500")
    ]
    assert [p_text(value) for value in (None, 0.0, 0.0312, 1.0)] == ["–", "< 0.0001", "0.031", "1"]
