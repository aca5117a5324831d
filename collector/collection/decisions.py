"""When the band of a task is decided, and how soon that can be."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from collector.collection.settings.stopping import StoppingRule
from collector.profiling.band_decisions import BandDecision, band_decisions

MOST_LOOKS = 1000
"""Later rollouts of a task decide nothing: the table would take seconds to compute."""


class DecisionTable:
    """The band that some passes among some rollouts decide."""

    def __init__(self, decisions: Iterable[BandDecision]) -> None:
        """Take the decisions of the models."""
        self._by_count: dict[int, list[BandDecision]] = {}
        for decision in decisions:
            self._by_count.setdefault(decision.rollout_count, []).append(decision)
        self.rollouts_to_go = functools.cache(self._rollouts_to_go)

    def band(self, rollout_count: int, pass_count: int) -> str | None:
        """Return the band that is decided, or None."""
        return next(
            (
                decision.band
                for decision in self._by_count.get(rollout_count, ())
                if decision.least_passes <= pass_count <= decision.most_passes
            ),
            None,
        )

    def _rollouts_to_go(self, rollout_count: int, pass_count: int) -> int | None:
        """Return after how many more rollouts a decision is possible; None if never."""
        for count in range(rollout_count + 1, max(self._by_count, default=0) + 1):
            most = pass_count + count - rollout_count
            for decision in self._by_count.get(count, ()):
                if decision.least_passes <= most and pass_count <= decision.most_passes:
                    return count - rollout_count
        return None


def decision_table(rule: StoppingRule, most_rollouts: int) -> DecisionTable:
    """Return the decisions for tasks with at most so many rollouts."""
    return DecisionTable(band_decisions(min(most_rollouts, MOST_LOOKS), rule.error_limit))
