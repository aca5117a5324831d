"""Judge a candidate by a policy: each rule by the bounds of an interval, never by the point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Literal

from collector.comparing.policy import RUN_LIMITS, SCORE_LIMITS, Policy, Rule, Waiver
from collector.comparing.results import Comparison
from collector.comparing.wording import SCORE_NAMES, figure, interval_of, interval_text, percent
from collector.errors import UsageError
from collector.suggestions import first_names, suggestion, unknown_name
from collector.terminal import label

Judgement = Literal["pass", "fail", "inconclusive"]
EXIT_CODES: dict[Judgement, int] = {"pass": 0, "fail": 1, "inconclusive": 5}
Bound = float | None


@dataclass(frozen=True)
class RuleCheck:
    """One limit of a rule, judged for one pair of agents."""

    rule: str
    tier: str
    subject: str
    limit: str
    judgement: Judgement
    reason: str
    low: Bound = None
    high: Bound = None
    waiver: Waiver | None = None
    expired_waiver: Waiver | None = None

    @property
    def counts_as(self) -> Judgement:
        """Return what the limit contributes to the gate: nothing bad if waived or advisory."""
        return "pass" if self.waiver or self.tier == "advisory" else self.judgement


@dataclass(frozen=True)
class GateReport:
    """The judgement of all rules."""

    checks: list[RuleCheck]

    @property
    def judgement(self) -> Judgement:
        """Return the worst judgement that counts."""
        found = {check.counts_as for check in self.checks}
        return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command."""
        return EXIT_CODES[self.judgement]

    def as_data(self) -> dict[str, Any]:
        """Return the judgements as plain data."""
        return {
            "judgement": self.judgement,
            "exit_code": self.exit_code,
            "checks": [
                {
                    **asdict(check),
                    "waiver": check.waiver.model_dump(mode="json") if check.waiver else None,
                    "expired_waiver": check.expired_waiver.model_dump(mode="json")
                    if check.expired_waiver
                    else None,
                }
                for check in self.checks
            ],
        }


def judge(
    policy: Policy, comparisons: list[Comparison], *, today: date | None = None
) -> GateReport:
    """Judge every rule; raise UsageError if a rule names a slice that the runs do not have."""
    for rule in policy.rules:
        _check_slice(rule, comparisons)
    day = today or datetime.now(UTC).date()
    return GateReport(
        [
            _apply_waiver(check, policy, day)
            for comparison in comparisons
            for rule in policy.rules
            for check in _rule_checks(rule, comparison)
        ]
    )


def judge_at_least(low: Bound, high: Bound, bound: float) -> Judgement:
    """Judge an interval that must lie at or above a bound."""
    if low is None or high is None:
        return "inconclusive"
    return "pass" if low >= bound else "fail" if high < bound else "inconclusive"


def judge_at_most(low: Bound, high: Bound, bound: float) -> Judgement:
    """Judge an interval that must lie at or below a bound."""
    if low is None or high is None:
        return "inconclusive"
    return "pass" if high <= bound else "fail" if low > bound else "inconclusive"


def _apply_waiver(check: RuleCheck, policy: Policy, today: date) -> RuleCheck:
    """Add the waiver of a rule that is not passed; one whose day is over no longer counts."""
    waivers = [waiver for waiver in policy.waivers if waiver.rule == check.rule]
    if check.judgement == "pass" or not waivers:
        return check
    latest = max(waivers, key=lambda waiver: waiver.until)
    if latest.until >= today:
        return replace(check, waiver=latest)
    return replace(check, expired_waiver=latest)


def _rule_checks(rule: Rule, comparison: Comparison) -> Iterator[RuleCheck]:
    for name, value in rule.limits(*SCORE_LIMITS, *RUN_LIMITS).items():
        yield JUDGES[name](rule, comparison, value)


def _judge_drop(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    return _judge_difference(rule, comparison, f"max_drop {limit:g}", lambda _: -limit)


def _judge_relative_drop(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    return _judge_difference(
        rule, comparison, f"max_relative_drop {limit:g}", lambda value: -limit * abs(value)
    )


def _judge_difference(
    rule: Rule, comparison: Comparison, limit: str, lowest: Callable[[float], float]
) -> RuleCheck:
    """Judge the interval of the difference, widened by the worst case of unknown rollouts."""
    row = next(
        (
            row
            for row in comparison.rows
            if (row["score"], row["slice_by"], row["slice_value"]) == _key(rule)
        ),
        None,
    )
    blank = _blank(rule, comparison, limit)
    if row is None or row["difference"] is None:
        return replace(blank, reason="no common task has a score in both runs")
    if row["verdict"] == "not comparable":
        return replace(blank, reason="the runs are not comparable")
    low, high = interval_of(row)
    if low is None or high is None:
        return replace(blank, reason="there is no interval: too few tasks or rollouts")
    low = low if row["lowest_low"] is None else min(low, row["lowest_low"])
    high = high if row["highest_high"] is None else max(high, row["highest_high"])
    bound = lowest(row["baseline_value"])
    return replace(
        blank,
        judgement=judge_at_least(low, high, bound),
        reason=f"difference {interval_text(low, high)}, at least {figure(bound)} required",
        low=low,
        high=high,
    )


def _judge_value(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    """Judge the interval of the candidate's own score."""
    score = comparison.candidate.score(*_key(rule))
    blank = _blank(rule, comparison, f"min_value {limit:g}")
    if score is None or score["low"] is None:
        return replace(blank, reason="the score has no interval: too few tasks")
    low, high = score["low"], score["high"]
    return replace(
        blank,
        judgement=judge_at_least(low, high, limit),
        reason=f"value {interval_text(low, high)}, at least {figure(limit)} required",
        low=low,
        high=high,
    )


def _judge_clean_rate(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    """Judge the share of clean rollouts, which is counted and not estimated."""
    rate = comparison.primary["clean_ratio"]
    blank = _blank(rule, comparison, f"min_clean_rate {limit:g}")
    if rate is None:
        return replace(blank, reason="the share of clean rollouts is not known")
    return replace(
        blank,
        judgement=judge_at_least(rate, rate, limit),
        reason=f"{percent(rate)} of the rollouts are clean, {percent(limit)} required",
        low=rate,
        high=rate,
    )


def _judge_tokens(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    return _judge_ratio(rule, comparison, "total_tokens", f"max_token_ratio {limit:g}", limit)


def _judge_cost(rule: Rule, comparison: Comparison, limit: float) -> RuleCheck:
    return _judge_ratio(rule, comparison, "cost", f"max_cost_ratio {limit:g}", limit)


def _judge_ratio(
    rule: Rule, comparison: Comparison, measure: str, name: str, limit: float
) -> RuleCheck:
    """Judge the interval of the ratio of the efforts per rollout."""
    rows = (r for r in comparison.efforts if (r["measure"], r["unit"]) == (measure, "rollout"))
    row = next(rows, None)
    blank = _blank(rule, comparison, name)
    if row is None or row["ratio_low"] is None:
        need = "profile with --prices" if measure == "cost" else "the rollouts report too few"
        return replace(blank, reason=f"no ratio with an interval: {need}")
    low, high = row["ratio_low"], row["ratio_high"]
    return replace(
        blank,
        judgement=judge_at_most(low, high, limit),
        reason=f"ratio {interval_text(low, high)}, at most {figure(limit)} allowed",
        low=low,
        high=high,
    )


JUDGES: dict[str, Callable[[Rule, Comparison, float], RuleCheck]] = {
    "max_drop": _judge_drop,
    "max_relative_drop": _judge_relative_drop,
    "min_value": _judge_value,
    "min_clean_rate": _judge_clean_rate,
    "max_token_ratio": _judge_tokens,
    "max_cost_ratio": _judge_cost,
}


def _blank(rule: Rule, comparison: Comparison, limit: str) -> RuleCheck:
    slices = [f"{field} = {value}" for field, value in rule.slice.items()]
    score = [SCORE_NAMES[rule.score_name]] if rule.limits(*SCORE_LIMITS) else []
    return RuleCheck(
        rule=rule.label,
        tier=rule.tier,
        subject=", ".join([comparison.candidate.name, *score, *slices]),
        limit=limit,
        judgement="inconclusive",
        reason="",
    )


def _key(rule: Rule) -> tuple[str, str, str]:
    ((field, value),) = rule.slice.items() or (("all", "all"),)
    return rule.score_name, field, value


def _check_slice(rule: Rule, comparisons: list[Comparison]) -> None:
    """Raise UsageError unless a run was sliced by the field and has the value."""
    known = {
        (row["slice_by"], row["slice_value"])
        for one in comparisons
        for row in (*one.rows, *one.baseline.scores, *one.candidate.scores)
    }
    for field, value in rule.slice.items():
        fields = sorted({name for name, _ in known if name != "all"})
        if field not in fields:
            raise UsageError(
                f"the rule {label(rule.label)}: no run was sliced by {label(field)}"
                f"{suggestion(field, fields)}\n  the fields are: {first_names(fields) or 'none'}\n"
                f"  what to do: profile the runs with --slice-by {label(field)}"
            )
        values = sorted(one for name, one in known if name == field)
        if value not in values:
            text = unknown_name(value, values)
            raise UsageError(f"the rule {label(rule.label)}: the value of {label(field)}, {text}")
