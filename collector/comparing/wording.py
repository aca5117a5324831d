"""Say what a comparison found, in sentences."""

from __future__ import annotations

from collector.comparing.results import Comparison
from collector.comparing.second_verdicts import SecondVerdicts
from collector.terminal import counted_noun, label
from collector.warehouse.sql import Row

SCORE_NAMES = {"mean_reward": "mean reward", "pass_rate": "pass rate"}
ANYWAY = "--anyway compares them all the same."


def verdict_sentence(comparison: Comparison) -> str:
    """Return the verdict in one sentence."""
    if comparison.second_verdicts:
        return agreement_sentence(comparison.second_verdicts.row, *_names(comparison))
    return _task_sentence(comparison)


def _names(comparison: Comparison) -> tuple[str, str]:
    return label(comparison.baseline.name), label(comparison.candidate.name)


def agreement_sentence(row: Row, baseline: str, candidate: str) -> str:
    """Return how two verdicts on the same rollouts agree: a row of `verdict_comparisons`."""
    kappa = f", kappa {figure(row['kappa'])}" if row["kappa"] is not None else ""
    interval = f"{confidence(row)} interval {interval_text(row['low'], row['high'])}, "
    return (
        f"{candidate} and {baseline} have two verdicts on the same"
        f" {counted_noun(row['rollout_count'], 'rollout')}:"
        f" {percent(row['agreement_ratio'])} agree{kappa}."
        f" {row['fail_to_pass_count']:,} pass only in {candidate},"
        f" {row['pass_to_fail_count']:,} only in {baseline}: pass rate"
        f" {figure(row['pass_ratio'])} against {figure(row['baseline_pass_ratio'])},"
        f" {figure(row['difference'], is_signed=True)}"
        f" ({interval if row['low'] is not None else ''}{p_phrase(row['p_value'])}),"
        f" over {counted_noun(row['task_count'], 'task')}."
    )


def _task_sentence(comparison: Comparison) -> str:
    baseline, candidate = _names(comparison)
    row = comparison.primary
    if comparison.is_same_run:
        return (
            f"{baseline} and {candidate} are the same run, so nothing can differ:"
            f" {_values(row)}, {_where(row)}."
        )
    return task_sentence(row, baseline, candidate)


def task_sentence(row: Row, baseline: str, candidate: str) -> str:
    """Return the verdict of a comparison by tasks: a row of `run_comparisons`."""
    if row["verdict"] == "not comparable":
        return (
            f"{candidate} and {baseline} are not comparable: {_obstacle(row, baseline, candidate)}"
        )
    leads = {
        "better": f"{candidate} is better than {baseline}",
        "worse": f"{candidate} is worse than {baseline}",
        "equivalent": f"{candidate} and {baseline} are equivalent",
        "inconclusive": f"It is open whether {candidate} is better or worse than {baseline}",
    }
    within = f", within the margin of {figure(row['margin'])}" if _is_equivalent(row) else ""
    return f"{leads[row['verdict']]}: {_values(row)}{within}, {_where(row)}."


def explanations(comparison: Comparison) -> list[str]:
    """Return the sentences that follow the verdict: why it is what it is, and what to do next."""
    row = comparison.primary
    if comparison.is_same_run:
        return []
    if comparison.second_verdicts:
        texts = [
            *_second_notes(comparison.second_verdicts),
            f"Task by task: {_task_sentence(comparison)}",
            *task_notes(row, *_names(comparison)),
        ]
    else:
        texts = task_notes(row, *_names(comparison))
    if row["verdict"] == "not comparable" and row["obstacle"] != "no_tasks":
        texts.append(ANYWAY)
    return texts


def task_notes(row: Row, baseline: str, candidate: str) -> list[str]:
    """Return what a reader should know beside the verdict of a comparison by tasks."""
    texts = (
        *(_override_note(row, baseline, candidate), _observed_note(row), _downgrade(row)),
        *(_unknown_note(row), _too_little(row), _settle(row)),
    )
    return [text for text in texts if text]


def _second_notes(second: SecondVerdicts) -> list[str]:
    row = second.row
    single = row["baseline_only_rollout_count"], row["candidate_only_rollout_count"]
    notes = list(second.notes)
    if any(single):
        notes.append(
            f"{counted_noun(single[0], 'rollout')} with a verdict only before, and"
            f" {single[1]:,} only now, were left out."
        )
    if changed := row["changed_response_rollout_count"]:
        notes.append(
            f"{counted_noun(changed, 'rollout')} with different responses in the runs were left"
            " out. If the files were not changed since, profile both runs again."
        )
    return notes


def interval_of(row: Row) -> tuple[float | None, float | None]:
    """Return the interval that the verdict of a row uses."""
    names = ("fixed_low", "fixed_high") if row["is_fixed_suite"] else ("low", "high")
    return row[names[0]], row[names[1]]


def std_error_of(row: Row) -> float | None:
    """Return the standard error that the verdict of a row uses."""
    value: float | None = row["fixed_std_error" if row["is_fixed_suite"] else "std_error"]
    return value


def p_value_of(row: Row) -> float | None:
    """Return the p-value that the verdict of a row uses."""
    value: float | None = row["fixed_p_value" if row["is_fixed_suite"] else "p_value"]
    return value


def figure(value: float | None, *, is_signed: bool = False) -> str:
    """Return a number with three decimals; small and large ones with significant digits."""
    if value is None:
        return "–"
    sign = "+" if is_signed and value else ""
    is_small = value != 0 and abs(value) < 0.0005
    return format(value, f"{sign}.2g" if is_small or abs(value) >= 1e6 else f"{sign},.3f")


def p_text(p_value: float | None) -> str:
    """Return a p-value with two significant digits."""
    if p_value is None:
        return "–"
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def interval_text(low: float | None, high: float | None) -> str:
    """Return the bounds of an interval."""
    return "–" if low is None or high is None else f"{figure(low)} to {figure(high)}"


def percent(share: float | None) -> str:
    """Return a share as a percentage, never rounded up to all or down to none."""
    if share is None:
        return "–"
    text = f"{100 * share:.1f}"
    rounded = {"100.0": "99.9", "0.0": "0.1"}.get(text, text) if 0 < share < 1 else text
    return f"{rounded.removesuffix('.0')} %"


def confidence(row: Row) -> str:
    """Return the confidence of the intervals, such as 95 %."""
    return f"{100 * (1 - row['alpha']):g} %"


def _values(row: Row) -> str:
    if row["difference"] is None:
        return "no score"
    p_value, (low, high) = p_value_of(row), interval_of(row)
    details = [f"{confidence(row)} interval {interval_text(low, high)}"] if low is not None else []
    if p_value is not None:
        details.append(p_phrase(p_value))
    return (
        f"{SCORE_NAMES[row['score']]} {figure(row['value'])} against"
        f" {figure(row['baseline_value'])}, {figure(row['difference'], is_signed=True)}"
        + (f" ({', '.join(details)})" if details else "")
    )


def p_phrase(p_value: float) -> str:
    """Return a p-value as part of a sentence, such as p = 0.03."""
    text = p_text(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _where(row: Row) -> str:
    tasks = counted_noun(row["task_count"], "common task")
    return f"on exactly these {tasks}" if row["is_fixed_suite"] else f"over {tasks}"


def _is_equivalent(row: Row) -> bool:
    return bool(row["verdict"] == "equivalent")


def _obstacle(row: Row, baseline: str, candidate: str) -> str:
    only = (
        f"{counted_noun(row['baseline_only_task_count'], 'task')} only in {baseline},"
        f" {row['candidate_only_task_count']:,} only in {candidate}"
    )
    if row["obstacle"] == "no_tasks":
        if row["common_task_count"]:
            return "none of their common tasks has a scored rollout in both runs."
        return (
            f"they have no task in common ({only}). Tasks are matched by their content: their"
            " fields, and the prompt, instructions and tools that the model gets."
        )
    if row["obstacle"] == "tasks":
        return f"only {percent(row['common_task_ratio'])} of the tasks are in both ({only})."
    return (
        f"{percent(row['clean_ratio'])} of the rollouts of {candidate} are clean, but"
        f" {percent(row['baseline_clean_ratio'])} of {baseline}: the difference may come from what"
        " broke."
    )


def _override_note(row: Row, baseline: str, candidate: str) -> str:
    if not row["obstacle"] or row["verdict"] == "not comparable":
        return ""
    return f"Compared anyway, although {_obstacle(row, baseline, candidate)}"


def _observed_note(row: Row) -> str:
    if row["verdict"] != "not comparable" or row["difference"] is None:
        return ""
    verdict = row["observed_verdict"]
    return f"On the common tasks alone, the verdict would be {verdict}: {_values(row)}."


def _unknown_note(row: Row) -> str:
    count = row["unknown_rollout_count"]
    if not count or row["verdict"] not in ("better", "worse", "equivalent"):
        return ""
    return (
        f"{counted_noun(count, 'unknown rollout')} (missing, masked or without a reward) could move"
        f" the bounds to {figure(row['lowest_low'], is_signed=True)} and"
        f" {figure(row['highest_high'], is_signed=True)}: the verdict holds."
    )


def _downgrade(row: Row) -> str:
    if row["verdict"] != "inconclusive" or row["observed_verdict"] == "inconclusive":
        return ""
    unknown = counted_noun(row["unknown_rollout_count"], "unknown rollout")
    return (
        f"The rollouts that are there say {row['observed_verdict']}, but this does not survive the"
        f" worst case of {unknown} (missing, masked or without a reward): with them, the"
        f" difference could lie between {figure(row['lowest_low'], is_signed=True)} and"
        f" {figure(row['highest_high'], is_signed=True)}. To settle it, collect them: `spotter"
        " collect --resume` runs the missing ones, except those that failed for good."
    )


def _too_little(row: Row) -> str:
    if row["task_count"] == 1:
        return "One task says nothing about other tasks: there is no interval and no test."
    if row["cluster_by"] and row["cluster_count"] == 1:
        return f"All tasks are in one cluster of {label(row['cluster_by'])}: there is no interval."
    if row["interval_method"] == "no_spread" and not row["is_fixed_suite"]:
        return (
            f"Every task has the same difference, {figure(row['difference'], is_signed=True)}: the"
            " interval shows what so many tasks could leave unseen."
        )
    if row["is_fixed_suite"] and row.get("is_same_rollouts"):
        return (
            "Both runs have the same rollouts, so they say nothing about a second run of the same"
            " tasks: leave out --fixed-suite."
        )
    if row["is_fixed_suite"] and row["fixed_low"] is None and row["difference"] is not None:
        return (
            "No task has several rollouts, so nothing is known about a second run of the same"
            " tasks: leave out --fixed-suite, or collect repeats."
        )
    return ""


def _settle(row: Row) -> str:
    """Say what would settle an inconclusive verdict."""
    if row["verdict"] != "inconclusive" or row["observed_verdict"] != "inconclusive":
        return ""
    ways = []
    if row["tasks_needed"]:
        tokens = row["tokens_needed"]
        more = f", {tokens:,.0f} more tokens" if tokens else ""
        ways.append(f"{row['tasks_needed']:,} tasks with as many rollouts each{more}")
    if row["repeats_needed"]:
        ways.append(f"{row['repeats_needed']:,} rollouts of each of these tasks in both runs")
    seen = (
        f" This comparison finds differences of {figure(row['detectable_difference'])} and more in"
        " 80 % of cases."
        if row["detectable_difference"]
        else ""
    )
    if not ways:
        return seen.strip()
    return f"To find a difference of {figure(row['margin'])}: {'; or '.join(ways)}.{seen}"
