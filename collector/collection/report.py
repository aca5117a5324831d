"""Tell how a collection went: for people on a terminal, as JSON for scripts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from collector.collection.aggregate import Aggregated
from collector.collection.collect import Collected
from collector.collection.progress import counted, duration
from collector.collection.state import Tally
from collector.terminal import counted_noun, printable, relative_path


def as_text(result: Collected) -> str:
    """Describe the run, and say what to do next."""
    counts = "\n".join(_counts(result)).rstrip("\n")
    return "\n".join([counts, "", *_files(result), *_next_step(result)])


def as_data(result: Collected) -> dict[str, Any]:
    """Return the same as plain data."""
    aggregated = result.aggregated
    return {
        "status": result.status,
        "expected_rollout_count": result.expected_count,
        "completed_rollout_count": result.completed_count,
        "missing_rollout_count": result.missing_count,
        "new_rollout_count": result.new_count,
        "refused_rollout_count": result.terminal_count,
        "spent_rollout_count": result.spent_count,
        "unkept_rollout_count": result.unkept_count,
        "masked_rollout_count": _masked(result.tallies).total(),
        "masked_rollouts": dict(_masked(result.tallies)),
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


def aggregated_as_text(result: Aggregated) -> str:
    """Describe what the agents computed."""
    merged = [f"Merged       {relative_path(path)}" for path in result.merged]
    return "\n".join([*_key_metrics(result), *merged, f"Aggregate    {relative_path(result.path)}"])


def aggregated_as_data(result: Aggregated) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "aggregate_metrics": str(result.path),
        "rollout_count": result.rollout_count,
        "key_metrics": result.key_metrics,
        "counted_as_zero": dict(result.zero_counts),
        "merged": [str(path) for path in result.merged],
    }


def _counts(result: Collected) -> Iterator[str]:
    share = 100 * result.completed_count / result.expected_count
    speed = f", {result.new_count / result.seconds:.1f}/s" if result.new_count else ""
    yield f"Rollouts     {result.completed_count:,}/{result.expected_count:,} ({share:.2f}%)"
    yield f"This time    {result.new_count:,} in {duration(result.seconds)}{speed}"
    if result.failures:
        total = result.failures.total()
        yield f"Failures     {total:,} failed attempts: {counted(result.failures)}"
    if result.unkept_count:
        unkept = counted_noun(result.unkept_count, "rollout")
        yield f"             {unkept} not kept, as their agents asked"
    if masked := _masked(result.tallies):
        noun = counted_noun(masked.total(), "rollout")
        yield f"Masked       {noun}, left out of every statistic: {counted(masked)}"
    yield from _agents(result.tallies, is_provisional=result.missing_count > 0)
    if result.aggregated:
        yield from _key_metrics(result.aggregated)


def _agents(tallies: dict[str, Tally], *, is_provisional: bool) -> Iterator[str]:
    width = max([len("agent"), *(len(name) for name in tallies)])
    yield ""
    if tallies:
        yield f"  {'agent':{width}}  rollouts  reward mean"
    for name, tally in sorted(tallies.items()):
        mean = "–" if tally.mean is None else f"{tally.mean:.4f}"
        note = "  (provisional)" if is_provisional else ""
        yield f"  {printable(name):{width}}  {tally.count:8,}  {mean:>11}{note}"


def _masked(tallies: dict[str, Tally]) -> Counter[str]:
    return sum((tally.masked for tally in tallies.values()), Counter())


def _key_metrics(result: Aggregated) -> Iterator[str]:
    zeros = ""
    if result.zero_counts:
        zeros = f" and {result.zero_counts.total():,} zeros"
        counts = " and ".join(f"{n:,} {why}" for why, n in sorted(result.zero_counts.items()))
        yield f"  counted with a reward of 0: {counts}; the figures without are in the file too"
    for name, metrics in sorted(result.key_metrics.items()):
        yield ""
        yield (
            f"  {printable(name)} reports, over its {result.rollout_count:,} rollouts{zeros}:"
            if len(result.key_metrics) == 1
            else f"  {printable(name)} reports:"
        )
        width = max([0, *(len(metric) for metric in metrics)])
        for metric, value in metrics.items():
            yield f"    {printable(metric):{width}}  {_figure(value)}"
    yield ""


def _figure(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else printable(str(value))[:80]


def _files(result: Collected) -> Iterator[str]:
    files = result.files
    yield f"Rollouts     {relative_path(files.rollouts)}"
    yield f"Inputs       {relative_path(files.inputs)}"
    if files.failures.exists():
        yield f"Failures     {relative_path(files.failures)}"
    yield f"Record       {relative_path(files.record)}"
    if result.aggregated:
        yield f"Aggregate    {relative_path(result.aggregated.path)}"


def _next_step(result: Collected) -> Iterator[str]:
    yield ""
    if result.missing_count:
        if result.is_out_of_time:
            yield f"Out of time: {counted_noun(result.open_count, 'rollout')} left to run."
        if result.open_count > 0:
            yield "To go on, give the same command again with --resume."
        if result.spent_count:
            yield (
                f"Out of attempts: {counted_noun(result.spent_count, 'rollout')}; --resume with a"
                " higher --max-attempts tries again."
            )
        if result.terminal_count:
            yield (
                f"Refused for good: {counted_noun(result.terminal_count, 'rollout')}; the failures"
                " file says why, and resuming does not send them again."
            )
        if result.completed_count:
            yield f"To profile what is there: {profile_command(result)}"
    else:
        yield f"To profile them: {profile_command(result)}"
