"""Warn of everything that the figures of a profile leave out or that makes them doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collector.artifacts import Run
from collector.profiling.headline_blocks import masks_text, range_text
from collector.profiling.headlines import Headlines
from collector.profiling.problems import fates_of_missing
from collector.profiling.profile import Outcome
from collector.suggestions import first_names
from collector.terminal import counted_noun, label

# what several runs have in common, if there are too many to warn of each
SUMMARIES = {
    "empty": "are empty: their inputs ask for no rollout",
    "partial": "are partial, so their figures are biased",
    "masked": "have masked rollouts, which are excluded from every figure",
    "until": "were collected with --until, so their pass rates and mean rewards are biased",
    "skipped": "have values that are not finite (NaN, Infinity or too large), which were skipped",
    "unpriced": "have rollouts without a cost",
    "zeros": "have no missing rollout with a failure class that was to count as 0",
}


def warnings(outcome: Outcome, *, is_short: bool = False) -> Iterator[str]:
    """Return the warnings of each run, or in short one of each kind."""
    if is_short:
        yield from _summaries(outcome)
    else:
        for run in outcome.runs:
            yield from (text for _, text in _doubts(run, outcome))


def _summaries(outcome: Outcome) -> Iterator[str]:
    for kind, summary in SUMMARIES.items():
        names = [
            run.run_id
            for run in outcome.runs
            if any(found == kind for found, _ in _doubts(run, outcome))
        ]
        if len(names) > 1:
            yield f"{len(names)} of {len(outcome.runs)} runs {summary}: {first_names(names)}"
        elif names:
            (run,) = (run for run in outcome.runs if run.run_id == names[0])
            yield from (text for found, text in _doubts(run, outcome) if found == kind)


def _doubts(run: Run, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Return the kind and the text of each warning of a run."""
    counts = outcome.completion[run.run_id]
    name = label(run.run_id)
    if not counts["expected_rollout_count"]:
        yield "empty", f"{name} is empty: its inputs ask for no rollout"
    if counts["missing_rollout_count"]:
        yield (
            "partial",
            f"{name} is partial: {counted_noun(counts['missing_rollout_count'], 'rollout')}"
            f" missing, {counted_noun(counts['dropped_task_count'], 'task')} dropped."
            f" {_missing_text(outcome.headlines[run.run_id])}",
        )
    if counts["masked_rollout_count"]:
        masked, completed = counts["masked_rollout_count"], counts["completed_rollout_count"]
        why = masks_text(outcome.headlines[run.run_id].masks)
        yield (
            "masked",
            f"{name}: the environment masked {masked:,} of"
            f" {counted_noun(completed, 'completed rollout')}: {why}."
            " They are excluded from every figure",
        )
    if counts["missing_rollout_count"] or counts["masked_rollout_count"]:
        possible = range_text(outcome.headlines[run.run_id])
        if possible:
            yield "range", f"{name}: with all rollouts measured, the mean could be: {possible}"
    if counts["stopping_rule"]:
        yield (
            "until",
            f"{name} was collected with --until {counts['stopping_rule']}: tasks got no more"
            " repeats once their band was decided, so their pass rates and the mean reward are"
            " biased",
        )
    if counts["skipped_value_count"]:
        skipped = counted_noun(counts["skipped_value_count"], "value")
        yield "skipped", f"{name}: skipped {skipped}: not finite (NaN, Infinity or too large)"
    yield from (("unpriced", text) for text in _price_warnings(run, outcome))
    yield from (("zeros", text) for text in _zero_warnings(run, outcome))


def _missing_text(headlines: Headlines) -> str:
    """Say how the missing rollouts bias the figures, and whether they can still run."""
    failed = sum(row["lost_rollout_count"] for row in headlines.reliability)
    missing = sum(row["missing_rollout_count"] for row in headlines.reliability)
    # a terminal attempt is the last one of its rollout
    refused = sum(
        min(row["lost_rollout_count"], row["terminal_attempt_count"]) for row in headlines.failures
    )
    reason = "Rollouts that finish first are usually the short ones"
    if missing == failed:
        reason = "Rollouts rarely fail by chance"
    fates = fates_of_missing(missing, failed=failed, refused=min(refused, failed))
    return "\n".join([f"{reason}, so these figures are biased", *fates])


def _price_warnings(run: Run, outcome: Outcome) -> Iterable[str]:
    """Warn of rollouts without a cost, if there are prices."""
    rows = [row for row in outcome.unpriced if row["run_id"] == run.run_id]
    if rows:
        count = sum(row["rollout_count"] for row in rows)
        models = ", ".join(label(row["model_name"] or "(none)", 40) for row in rows[:5])
        yield (
            f"{label(run.run_id)}: {counted_noun(count, 'rollout')} without a cost, of the models"
            f" {models}: the price file does not name them, or they report no tokens"
        )


def _zero_warnings(run: Run, outcome: Outcome) -> Iterable[str]:
    """Warn of failure classes to count as 0 that no missing rollout has: perhaps misspelt."""
    rows = outcome.headlines[run.run_id]
    zeros = outcome.statistics.zeros
    has_zeros = any(row["zero_rollout_count"] for row in rows.reliability)
    if zeros and zeros.failure_classes and not has_zeros:
        names = ", ".join(label(name, 40) for name in zeros.failure_classes)
        classes = sorted({label(row["failure_class"], 30) for row in rows.failures})
        yield (
            f"{label(run.run_id)}: no missing rollout ended with the failure class {names};"
            f" the classes of its failures are: {', '.join(classes[:10]) or 'none'}"
        )
