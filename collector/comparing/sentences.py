"""Word the verdict of a comparison: a row of `run_comparisons` in sentences."""

from __future__ import annotations

from collector.comparing.wording import SCORE_NAMES, confidence, interval_of, p_phrase
from collector.terminal import counted_noun
from collector.warehouse.sql import Row


def verdict_sentence(row: Row) -> str:
    """Return what a comparison found, in one sentence."""
    score = SCORE_NAMES[row["score"]]
    found = f"{_interval(row)}, {counted_noun(row['task_count'], 'task')}"
    size = signed(abs(row["difference"] or 0)).lstrip("+")
    match row["verdict"]:
        case "better":
            return f"B is better than A: its {score} is {size} higher ({found})."
        case "worse":
            return f"B is worse than A: its {score} is {size} lower ({found})."
        case "equivalent":
            return (
                f"A and B are equivalent: their {score}s differ by {signed(row['difference'])}"
                f" ({found}), within the margin of {_figure(row['margin'])}."
            )
        case "not comparable":
            return _obstacle_sentence(row)
    return _inconclusive_sentence(row, score, found)


def agreement_sentence(row: Row) -> str:
    """Return how two verdicts on the same rollouts agree: a row of `verdict_comparisons`."""
    kappa = f" (kappa {row['kappa']:.3f})" if row["kappa"] is not None else ""
    found = "" if row["low"] is None else f"{_interval(row | {'is_fixed_suite': False})}, "
    return (
        f"A and B have two verdicts on the same {counted_noun(row['rollout_count'], 'rollout')}:"
        f" {_percent(row['agreement_ratio'])} of them agree{kappa}."
        f" {counted_noun(row['fail_to_pass_count'], 'rollout')} pass only in B,"
        f" {row['pass_to_fail_count']:,} only in A: the pass rate of B minus that of A is"
        f" {signed(row['difference'])} ({found}{p_phrase(row['p_value'])},"
        f" {counted_noun(row['task_count'], 'task')})."
    )


def verdict_notes(row: Row) -> list[str]:
    """Return what a reader should know beside the verdict."""
    return [
        text
        for text in (_observed_note(row), _need_note(row), _unknown_note(row), _noise_note(row))
        if text
    ]


def signed(value: float | None) -> str:
    """Format a difference with its sign; a missing one is a dash."""
    if value is None:
        return "–"
    text = f"{value:+.3f}" if abs(value) >= 0.0005 or not value else f"{value:+.1e}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def _inconclusive_sentence(row: Row, score: str, found: str) -> str:
    if row["difference"] is None:
        return "Inconclusive: no task has a score in both runs."
    if interval_of(row)[0] is None:
        basis = "clusters" if row["cluster_by"] else "tasks"
        return (
            f"Inconclusive: the {score} of B minus that of A is {signed(row['difference'])}, but"
            f" {counted_noun(row['task_count'], 'task')} cannot tell how sure that is: an interval"
            f" needs at least two {basis}."
        )
    if row["observed_verdict"] != "inconclusive":
        unknown = counted_noun(row["unknown_rollout_count"], "rollout")
        return (
            f"Inconclusive: the scored rollouts say {row['observed_verdict']}"
            f" ({signed(row['difference'])}; {found}), but {unknown} without a score could"
            f" change that ({signed(row['lowest_low'])} … {signed(row['highest_high'])})."
        )
    return (
        f"Inconclusive: the {score} of B minus that of A is {signed(row['difference'])}"
        f" ({found}), so B may be better or worse."
    )


def _obstacle_sentence(row: Row) -> str:
    if row["obstacle"] == "tasks":
        return (
            f"Not comparable: only {counted_noun(row['common_task_count'], 'task')} "
            f"{'is' if row['common_task_count'] == 1 else 'are'} in both runs,"
            f" {_percent(row['common_task_ratio'])} of the larger run's tasks."
            " A verdict needs 80 %."
        )
    return (
        f"Not comparable: {_percent(row['baseline_clean_ratio'])} of A's rollouts are clean, and"
        f" {_percent(row['clean_ratio'])} of B's. A verdict allows a difference of 5 points."
    )


def _observed_note(row: Row) -> str:
    if row["verdict"] != "not comparable":
        return ""
    return (
        f"On the common tasks alone, the verdict would be: {row['observed_verdict']}"
        f" ({signed(row['difference'])}; {_interval(row)})."
    )


def _need_note(row: Row) -> str:
    """Return what would settle an inconclusive comparison."""
    if row["observed_verdict"] != "inconclusive" or not row["detectable_difference"]:
        return ""
    note = (
        "A comparison of this size finds a true difference of"
        f" {_figure(row['detectable_difference'])} in 80 % of cases."
    )
    ways = [
        f"{row['tasks_needed']:,} tasks{_token_text(row)}" if row["tasks_needed"] else "",
        f"{row['repeats_needed']:,} rollouts per task and run" if row["repeats_needed"] else "",
    ]
    named = " or ".join(way for way in ways if way)
    return note + (f" To find the margin of {_figure(row['margin'])}: {named}." if named else "")


def _token_text(row: Row) -> str:
    tokens = row["tokens_needed"]
    return f" (about {tokens / 1e6:,.1f} million tokens more)" if tokens else ""


def _unknown_note(row: Row) -> str:
    count = row["unknown_rollout_count"]
    if not count or row["verdict"] in ("not comparable", "inconclusive"):
        return ""
    return (
        f"{counted_noun(count, 'rollout')} without a score could move the interval to"
        f" {signed(row['lowest_low'])} … {signed(row['highest_high'])}; the verdict holds."
    )


def _noise_note(row: Row) -> str:
    noise = row["noise_floor_std_error"]
    if noise is None:
        return ""
    return f"Two runs of A on these tasks would differ by about ±{_figure(noise)} (standard error)."


def _interval(row: Row) -> str:
    low, high = interval_of(row)
    if low is None:
        return "no interval"
    return f"{confidence(row)} interval {signed(low)} … {signed(high)}"


def _figure(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if value >= 0.001 or not value else f"{value:.1e}"


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"
