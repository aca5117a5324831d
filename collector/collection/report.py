"""Report a collection: as blocks for people, as plain data for scripts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from collector.collection.aggregate import Aggregated
from collector.collection.collected import Collected, Savings
from collector.collection.progress import format_counts, format_duration
from collector.collection.state import Tally
from collector.terminal import counted_noun, relative_path
from collector.terminal.blocks import (
    Block,
    Fact,
    Line,
    Styled,
    TextColumn,
    TextTable,
    plain_text,
)

AGENT_COLUMNS = (
    TextColumn("agent", overflow="wrap"),
    TextColumn("rollouts", 8, "right"),
    TextColumn("reward mean", 11, "right", "value"),
    TextColumn(style="quiet"),
)
METRIC_COLUMNS = (TextColumn(overflow="wrap"), TextColumn(style="value", overflow="wrap"))


def as_blocks(result: Collected) -> list[Block]:
    """Describe the run and its files, and say what to do next."""
    figures = list(_figure_blocks(result))
    while figures[-1] == Line():
        figures.pop()
    return [*figures, Line(), *_file_facts(result), *_next_steps(result)]


def as_text(result: Collected) -> str:
    """Return the description as plain text."""
    return plain_text(as_blocks(result))


def as_data(result: Collected) -> dict[str, Any]:
    """Return the counts, the agents and the files as plain data."""
    aggregated = result.aggregated
    return {
        "status": result.status,
        "expected_rollout_count": result.expected_count,
        "completed_rollout_count": result.completed_count,
        "missing_rollout_count": result.missing_count,
        "unplanned_rollout_count": result.unplanned_count,
        "saved_rollout_count": result.savings.saved_count if result.savings else 0,
        "decided_task_count": result.savings.decided_count if result.savings else None,
        "new_rollout_count": result.new_count,
        "refused_rollout_count": result.terminal_count,
        "spent_rollout_count": result.spent_count,
        "unkept_rollout_count": result.unkept_count,
        "masked_rollout_count": _mask_counts(result.tallies).total(),
        "masked_rollouts": dict(_mask_counts(result.tallies)),
        "failed_attempts": dict(result.failures),
        "seconds": round(result.seconds, 3),
        "agents": [
            {
                "agent_name": name,
                "rollout_count": tally.count,
                "masked_rollout_count": tally.masked.total(),
                "reward_mean": tally.mean,
            }
            for name, tally in sorted(result.tallies.items())
        ],
        "rollouts": str(result.files.rollouts),
        "inputs": str(result.files.inputs),
        "failures": str(result.files.failures) if result.files.failures.exists() else None,
        "record": str(result.files.record),
        "aggregate_metrics": str(aggregated.path) if aggregated else None,
        "key_metrics": aggregated.key_metrics if aggregated else None,
        "counted_as_zero": dict(aggregated.zero_counts) if aggregated else {},
        "error": str(result.error) if result.error else None,
        "aggregation_error": str(result.aggregation_error) if result.aggregation_error else None,
    }


def profile_command(result: Collected) -> str:
    """Return the command that profiles what was collected."""
    partial = " --allow-partial" if result.missing_count else ""
    return f"spotter profile {shlex.quote(relative_path(result.files.rollouts))}{partial}"


def given_up_lines(result: Collected) -> Iterator[str]:
    """Say what helps the rollouts that the same command would not try again."""
    if result.spent_count:
        yield (
            f"Out of attempts: {counted_noun(result.spent_count, 'rollout')}; --resume with a"
            " higher --max-attempts tries again."
        )
    if result.terminal_count:
        yield (
            f"Refused for good: {counted_noun(result.terminal_count, 'rollout')}; the failures"
            " file says why, and resuming does not try again."
        )


def aggregate_blocks(result: Aggregated) -> list[Block]:
    """Describe the metrics that the agents computed, and say where their files are."""
    return [
        *_metric_blocks(result),
        *(Fact("Merged", relative_path(path)) for path in result.merged),
        Fact("Aggregate", relative_path(result.path)),
    ]


def aggregate_data(result: Aggregated) -> dict[str, Any]:
    """Return the metrics that the agents computed as plain data."""
    return {
        "aggregate_metrics": str(result.path),
        "rollout_count": result.rollout_count,
        "key_metrics": result.key_metrics,
        "counted_as_zero": dict(result.zero_counts),
        "merged": [str(path) for path in result.merged],
    }


def _figure_blocks(result: Collected) -> Iterator[Block]:
    share = 100 * result.completed_count / result.expected_count
    speed = f", {result.new_count / result.seconds:.1f}/s" if result.new_count else ""
    yield Fact(
        "Rollouts",
        Styled(
            f"{result.completed_count:,}/{result.expected_count:,} ({share:.2f}%)",
            "caution" if result.missing_count else "good",
        ),
    )
    yield Fact("This time", f"{result.new_count:,} in {format_duration(result.seconds)}{speed}")
    if result.failures:
        count = Styled(counted_noun(result.failures.total(), "failed attempt"), "caution")
        yield Fact("Failures", (count, f": {format_counts(result.failures)}"), style="caution")
    if result.savings:
        yield Fact("Saved", savings_text(result.savings))
    if result.unkept_count:
        unkept = counted_noun(result.unkept_count, "rollout")
        yield Fact("", f"{unkept} not kept, as their agents asked")
    if masked := _mask_counts(result.tallies):
        count = Styled(counted_noun(masked.total(), "rollout"), "caution")
        text = f", left out of every statistic: {format_counts(masked)}"
        yield Fact("Masked", (count, text), style="caution")
    yield Line()
    if result.tallies:
        yield _agent_table(result.tallies, is_provisional=result.missing_count > 0)
    if result.aggregated:
        yield from _metric_blocks(result.aggregated)


def savings_text(savings: Savings) -> str:
    """Return in a sentence what the stopping rule saved."""
    share = 100 * savings.saved_count / savings.most_count if savings.most_count else 0.0
    return (
        f"--until saved {savings.saved_count:,} of {counted_noun(savings.most_count, 'rollout')}"
        f" ({share:.0f} %); {savings.decided_count:,} of"
        f" {counted_noun(savings.task_count, 'task')}"
        f" {'is' if savings.task_count == 1 else 'are'} decided"
    )


def _agent_table(tallies: dict[str, Tally], *, is_provisional: bool) -> TextTable:
    note = "(provisional)" if is_provisional else ""
    rows = [
        (name, f"{tally.count:,}", "–" if tally.mean is None else f"{tally.mean:.4f}", note)
        for name, tally in sorted(tallies.items())
    ]
    return TextTable(AGENT_COLUMNS, rows, indent=2)


def _mask_counts(tallies: dict[str, Tally]) -> Counter[str]:
    return sum((tally.masked for tally in tallies.values()), Counter())


def _metric_blocks(result: Aggregated) -> Iterator[Block]:
    zeros = ""
    if result.zero_counts:
        zeros = f" and {counted_noun(result.zero_counts.total(), 'zero')}"
        counts = " and ".join(f"{n:,} {why}" for why, n in sorted(result.zero_counts.items()))
        yield Line(
            f"counted with a reward of 0: {counts}; the figures without are in the file too",
            indent=2,
        )
    is_single = len(result.key_metrics) == 1
    scope = (
        f", over its {counted_noun(result.rollout_count, 'rollout')}{zeros}" if is_single else ""
    )
    for name, metrics in sorted(result.key_metrics.items()):
        yield Line()
        yield Line((Styled(name, "heading"), f" reports{scope}:"), indent=2)
        rows = [(metric, _figure(value)) for metric, value in metrics.items()]
        yield TextTable(METRIC_COLUMNS, rows, indent=4)
    yield Line()


def _figure(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)[:80]


def _file_facts(result: Collected) -> Iterator[Block]:
    files = result.files
    yield Fact("Rollouts", relative_path(files.rollouts))
    yield Fact("Inputs", relative_path(files.inputs))
    if files.failures.exists():
        yield Fact("Failures", relative_path(files.failures))
    yield Fact("Record", relative_path(files.record))
    if result.aggregated:
        yield Fact("Aggregate", relative_path(result.aggregated.path))


def _next_steps(result: Collected) -> Iterator[Block]:
    command = Styled(profile_command(result), "command")
    yield Line()
    if not result.missing_count:
        yield Line(("To profile the run: ", command))
        return
    if result.is_out_of_time:
        yield Line(f"Out of time: {counted_noun(result.open_count, 'rollout')} left to run.")
    if result.open_count > 0:
        yield Line("To go on, give the same command again with --resume.")
    if result.unplanned_count:
        yield Line(
            f"Not in the plan: {counted_noun(result.unplanned_count, 'missing rollout')}; the"
            " run's own command with --resume runs them."
        )
    yield from map(Line, given_up_lines(result))
    if result.completed_count:
        yield Line(("To profile what is there: ", command))
