"""Say in sentences that a pass threshold does not fit the rewards, or that all are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collector.terminal import counted_noun, label
from collector.warehouse.sql import Row

SHOWN_SLICES = 3


def threshold_sentences(spreads: Sequence[Row]) -> Iterator[str]:
    """Say how graded rewards of which hardly any passes are distributed; a person decides."""
    for row in spreads:
        if row["slice_by"] != "all" or not row["is_threshold_doubtful"]:
            continue
        passing = f"only {row['pass_count']:,}" if row["pass_count"] else "none"
        yield (
            f"{passing} of {counted_noun(row['rollout_count'], 'reward')}"
            f" {'reaches' if row['pass_count'] <= 1 else 'reach'} the pass threshold"
            f" {row['pass_threshold']:.4g}. The rewards are graded, from {row['reward_min']:.4g} to"
            f" {row['reward_max']:.4g}: half are at least {row['reward_median']:.4g}, a quarter"
            f" {row['reward_p75']:.4g}, a tenth {row['reward_p90']:.4g}. If less counts as solved,"
            f" profile again with --pass-threshold, such as {row['reward_p75']:.3g}"
        )


def constant_sentences(spreads: Sequence[Row]) -> Iterator[str]:
    """Name the slices, or the whole, in which every reward is the same."""
    constant = [row for row in spreads if row["is_constant"]]
    whole = [row for row in constant if row["slice_by"] == "all"]
    for row in whole or constant[:SHOWN_SLICES]:
        place = (
            ""
            if row["slice_by"] == "all"
            else f" where {label(row['slice_by'], 40)} is {label(row['slice_value'], 40)}"
        )
        yield (
            f"all {counted_noun(row['rollout_count'], 'reward')}{place} are"
            f" {row['reward_min']:.4g}: the verifier may be broken, or the tasks are all too"
            f" {'easy' if row['pass_count'] else 'hard'}"
        )
    if not whole and len(constant) > SHOWN_SLICES:
        yield f"the same in {counted_noun(len(constant) - SHOWN_SLICES, 'more slice')}"
