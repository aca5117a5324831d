"""How long rollouts may start."""

from __future__ import annotations

import pytest

from collector.collection.budget import Budget
from collector.collection.settings import CollectSettings
from collector.errors import UsageError
from collector.validation import validate_settings


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(f"{Budget.__module__}.time.monotonic", lambda: now[0])
    return now


def test_without_a_budget_it_is_never_too_late(clock: list[float]) -> None:
    unlimited = Budget()
    clock[0] = 1e9
    assert unlimited.seconds_left is None
    assert not unlimited.is_over()


def test_no_rollout_starts_within_the_margin(clock: list[float]) -> None:
    limited = Budget(60, margin=10)
    clock[0] = 149.0
    assert not limited.is_over()
    clock[0] = 151.0
    assert limited.is_over()


def test_without_a_margin_it_is_what_three_of_four_rollouts_took(clock: list[float]) -> None:
    limited = Budget(60)
    for seconds in (1.0, 2.0, 3.0, 20.0):
        limited.note(seconds)
    assert limited.margin == 0.0  # too few to tell
    limited.note(4.0)
    assert limited.margin == 4.0
    clock[0] = 157.0
    assert limited.is_over()


def test_a_budget_of_nothing_is_over_at_once(clock: list[float]) -> None:
    assert clock
    assert Budget(0).is_over()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drain_margin_s": 1}, "drain_margin_s needs dispatch_budget_s"),
        ({"dispatch_budget_s": 5, "drain_margin_s": 5}, "leaves no time to start a rollout"),
    ],
)
def test_a_budget_that_lets_nothing_start_is_refused(given: dict[str, float], said: str) -> None:
    files = {"input_jsonl_fpath": "tasks.jsonl", "output_jsonl_fpath": "run.jsonl"}
    with pytest.raises(UsageError, match=said):
        validate_settings(CollectSettings, {**files, **given})
