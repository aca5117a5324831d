"""The judgements of a gate, and the policies that it refuses."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from collector.comparing.gate import judge, judge_at_least, judge_at_most
from collector.comparing.policy import Policy, read_policy
from collector.errors import FileError, UsageError
from tests.compared_runs import made_comparison

TODAY = date(2026, 6, 15)


def _judge(rule: dict[str, Any], *, waivers: Any = (), **figures: Any) -> Any:
    policy = Policy.model_validate({"rules": [{"name": "r", **rule}], "waivers": waivers})
    return judge(policy, [made_comparison(**figures)], today=TODAY)


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (0.5, 0.6, "pass"),
        (0.6, 0.7, "pass"),
        (0.4, 0.6, "inconclusive"),
        (0.3, 0.4, "fail"),
        (0.3, 0.5, "inconclusive"),
        (None, None, "inconclusive"),
    ],
)
def test_a_lower_limit_holds_for_the_whole_interval(
    low: float | None, high: float | None, judgement: str
) -> None:
    assert judge_at_least(low, high, 0.5) == judgement


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (0.4, 0.5, "pass"),
        (0.4, 0.6, "inconclusive"),
        (0.5, 0.6, "inconclusive"),
        (0.6, 0.7, "fail"),
        (None, None, "inconclusive"),
    ],
)
def test_an_upper_limit_holds_for_the_whole_interval(
    low: float | None, high: float | None, judgement: str
) -> None:
    assert judge_at_most(low, high, 0.5) == judgement


@pytest.mark.parametrize(
    ("rule", "figures", "judgement"),
    [
        ({"max_drop": 0.0}, {}, "pass"),
        ({"max_drop": 0.0}, {"low": -0.01}, "inconclusive"),
        ({"max_drop": 0.02}, {"low": -0.3, "high": -0.03, "difference": -0.1}, "fail"),
        # the point keeps the limit, but unknown rollouts could break it
        ({"max_drop": 0.0}, {"lowest_low": -0.1, "highest_high": 0.2}, "inconclusive"),
        ({"max_drop": 0.0}, {"verdict": "not comparable"}, "inconclusive"),
        ({"max_drop": 0.0}, {"low": None, "high": None}, "inconclusive"),
        ({"max_drop": 0.04}, {"is_fixed_suite": True, "fixed_low": -0.05}, "inconclusive"),
        ({"max_relative_drop": 0.1}, {"low": -0.049}, "pass"),
        ({"max_relative_drop": 0.1}, {"low": -0.051}, "inconclusive"),
        ({"min_value": 0.5}, {}, "pass"),
        ({"min_value": 0.55}, {}, "inconclusive"),
        ({"min_value": 0.61}, {}, "fail"),
        ({"min_clean_rate": 0.9}, {"clean_ratio": 0.9}, "pass"),
        ({"min_clean_rate": 0.9}, {"clean_ratio": 0.89}, "fail"),
        ({"max_token_ratio": 1.0}, {}, "inconclusive"),
    ],
)
def test_a_rule_is_judged_by_the_bounds(
    rule: dict[str, Any], figures: dict[str, Any], judgement: str
) -> None:
    (check,) = _judge(rule, **figures).checks
    assert check.judgement == judgement, check.reason


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [(0.9, 1.1, "pass"), (1.1, 1.3, "inconclusive"), (1.21, 1.3, "fail")],
)
def test_a_ratio_of_tokens_is_judged_by_its_bounds(low: float, high: float, judgement: str) -> None:
    effort = {"measure": "total_tokens", "unit": "rollout", "ratio_low": low, "ratio_high": high}
    assert _judge({"max_token_ratio": 1.2}, efforts=[effort]).judgement == judgement


def test_the_worst_critical_rule_decides() -> None:
    rules = [
        {"name": "fails", "min_value": 0.9, "tier": "advisory"},
        {"name": "open", "min_value": 0.55},
        {"name": "passes", "min_value": 0.1},
    ]
    report = judge(Policy.model_validate({"rules": rules}), [made_comparison()], today=TODAY)
    assert [check.judgement for check in report.checks] == ["fail", "inconclusive", "pass"]
    assert (report.judgement, report.exit_code) == ("inconclusive", 5)
    rules[0]["tier"] = "critical"
    report = judge(Policy.model_validate({"rules": rules}), [made_comparison()], today=TODAY)
    assert (report.judgement, report.exit_code) == ("fail", 1)


@pytest.mark.parametrize(
    ("until", "exit_code"), [("2026-06-15", 0), ("2026-06-14", 1), (date(2027, 1, 1), 0)]
)
def test_a_waiver_counts_until_the_end_of_its_day(until: Any, exit_code: int) -> None:
    waivers = [{"rule": "r", "reason": "known", "until": until}]
    report = _judge({"min_value": 0.9}, waivers=waivers)
    assert report.exit_code == exit_code
    (check,) = report.checks
    assert (check.waiver is None) == bool(exit_code)
    assert (check.expired_waiver is not None) == bool(exit_code)


def test_an_unknown_slice_is_an_error_with_a_suggestion() -> None:
    rows = [{"slice_by": "category", "slice_value": "email"}]
    assert _judge({"slice": {"category": "email"}, "max_drop": 0}, rows=rows).judgement == "pass"
    with pytest.raises(UsageError, match="did you mean email"):
        _judge({"slice": {"category": "emial"}, "max_drop": 0}, rows=rows)
    with pytest.raises(UsageError, match="--slice-by level"):
        _judge({"slice": {"level": "3"}, "max_drop": 0}, rows=rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rules"),
        ("rules: []", "rules"),
        ("rules: [{max_drop: -1}]", "rules.0.max_drop"),
        ("rules: [{max_drop: yes}]", "rules.0.max_drop"),
        ("rules: [{max_drop: .inf}]", "rules.0.max_drop"),
        ("rules: [{max_drpo: 1}]", "did you mean max_drop"),
        ("rules: [{tier: critical}]", "give one of max_drop"),
        ("rules: [{max_drop: 1, tier: urgent}]", "rules.0.tier"),
        ("rules: [{score: mean_rewrad, max_drop: 1}]", "did you mean mean_reward"),
        ("rules: [{slice: {a: b, c: d}, max_drop: 1}]", "one field and one value"),
        ("rules: [{slice: {a: b}, max_token_ratio: 1}]", "do not go with"),
        ("rules: [{max_drop: 1}, {max_drop: 2}]", "two rules are called"),
        ("{rules: [{max_drop: 1}], waiver: []}", "did you mean waivers"),
        ("{rules: [{max_drop: 1}], waivers: [{rule: x, reason: y, until: 2027-01-01}]}", "unknown"),
        ("{rules: [{name: x, max_drop: 1}], waivers: [{rule: x, until: 2027-01-01}]}", "reason"),
        (
            "{rules: [{name: x, max_drop: 1}], waivers: [{rule: x, reason: y, until: 20270101}]}",
            "write a date like 2027-01-31",
        ),
        ("rules: [", "not valid YAML (line 2, column 1)"),
    ],
)
def test_a_wrong_policy_says_where_and_what(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gate.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        read_policy(path)
    assert message in str(raised.value)


def test_a_policy_that_cannot_be_read_is_a_file_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.yml"):
        with pytest.raises(FileError):
            read_policy(path)
