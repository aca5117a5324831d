"""The sentences of `spotter compare`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collector.comparing.markdown import escape
from collector.comparing.wording import explanations, figure, p_text, percent, verdict_sentence
from tests.compared_runs import made_comparison

FIGURES = "mean reward 0.570 against 0.499, +0.071 (95 % interval 0.031 to 0.111, p = 0.0006)"
OPEN: dict[str, Any] = {"verdict": "inconclusive", "observed_verdict": "inconclusive"}


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ({}, f"after is better than before: {FIGURES}, over 200 common tasks."),
        ({"verdict": "worse"}, f"after is worse than before: {FIGURES}, over 200 common tasks."),
        (
            {"verdict": "equivalent"},
            f"after and before are equivalent: {FIGURES}, within the margin of 0.010,"
            " over 200 common tasks.",
        ),
        (
            OPEN,
            f"It is open whether after is better or worse than before: {FIGURES},"
            " over 200 common tasks.",
        ),
        (
            {"is_fixed_suite": True, "alpha": 0.1},
            "after is better than before: mean reward 0.570 against 0.499, +0.071 (90 % interval"
            " 0.051 to 0.091, p = 0.0001), on exactly these 200 common tasks.",
        ),
        (
            {"low": None, "high": None, "p_value": None, "task_count": 1, **OPEN},
            "It is open whether after is better or worse than before: mean reward 0.570 against"
            " 0.499, +0.071, over 1 common task.",
        ),
        (
            {"verdict": "not comparable", "obstacle": "tasks", "common_task_ratio": 0.796},
            "after and before are not comparable: only 79.6 % of the tasks are in both (0 tasks"
            " only in before, 0 only in after).",
        ),
        (
            {"verdict": "not comparable", "obstacle": "clean_rates", "clean_ratio": 0.9},
            "after and before are not comparable: 90 % of the rollouts of after are clean, but"
            " 100 % of before: the difference may come from what broke.",
        ),
    ],
    ids=[
        "better",
        "worse",
        "equivalent",
        "inconclusive",
        "fixed suite",
        "one task",
        "few common tasks",
        "clean rates",
    ],
)
def test_each_verdict_has_its_sentence(figures: dict[str, Any], sentence: str) -> None:
    assert verdict_sentence(made_comparison(**figures)) == sentence


def test_an_inconclusive_verdict_says_what_would_settle_it() -> None:
    (text,) = explanations(made_comparison(**OPEN))
    assert text == (
        "To find a difference of 0.010: 6,272 tasks with as many rollouts each, 1,234,567 more"
        " tokens; or 31 rollouts of each of these tasks in both runs. This comparison finds"
        " differences of 0.056 and more in 80 % of cases."
    )


def test_a_downgraded_verdict_names_the_unknown_rollouts() -> None:
    (text,) = explanations(
        made_comparison(
            verdict="inconclusive", unknown_rollout_count=37, lowest_low=-0.01, highest_high=0.2
        )
    )
    assert "say better" in text
    assert "does not survive the worst case of 37 unknown rollouts" in text
    assert "between -0.010 and +0.200" in text


def test_a_verdict_that_holds_in_the_worst_case_says_so() -> None:
    (text,) = explanations(
        made_comparison(unknown_rollout_count=2, lowest_low=0.01, highest_high=0.2)
    )
    assert text == (
        "2 unknown rollouts (missing, masked or without a reward) could move the bounds to +0.010"
        " and +0.200: the verdict holds."
    )


def test_runs_that_are_not_comparable_say_what_their_common_tasks_show() -> None:
    shown, advice = explanations(made_comparison(verdict="not comparable", obstacle="tasks"))
    assert shown == f"On the common tasks alone, the verdict would be better: {FIGURES}."
    assert advice == "--anyway compares them all the same."


def test_a_run_and_itself_are_the_same_whatever_their_names() -> None:
    comparison = made_comparison(**OPEN)
    same = replace(comparison, candidate=replace(comparison.candidate, run=comparison.baseline.run))
    assert verdict_sentence(same).startswith("before and after are the same run")
    assert explanations(same) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (0.00012, "0.00012"), (-0.5, "-0.500"), (1234.5, "1,234.500"), (None, "–")],
)
def test_figures_keep_small_values_visible(value: float | None, text: str) -> None:
    assert figure(value) == text


def test_probabilities_and_shares_are_never_rounded_to_certainty() -> None:
    assert p_text(0.00003) == "< 0.0001"
    assert percent(0.99999) == "99.9 %"
    assert percent(1.0) == "100 %"
    assert percent(0.00001) == "0.1 %"


def test_markdown_shows_any_text_as_it_is() -> None:
    assert escape("<a href=x>|`*_[x](y) @me\n# h") == (
        "&lt;a href=x&gt;\\|\\`\\*\\_\\[x\\](y) @&#8203;me \\#&#8203; h"
    )
    assert escape("- https://x.org www.x.org #12") == (
        "\\- https:&#8203;//x.org www&#8203;.x.org \\#&#8203;12"
    )
    assert escape("+0.071 (95 % interval -0.1 to 0.2)") == "\\+0.071 (95 % interval -0.1 to 0.2)"
