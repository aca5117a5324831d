"""Rank several runs, with letters for those that the data cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass

from collector.comparing.letters import compact_letters
from collector.comparing.results import Comparison, Side
from collector.comparing.wording import p_value_of
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class Standing:
    """A run with its own score and its letters."""

    name: str
    run_id: str
    agent_name: str
    letters: str
    score: Row | None

    @property
    def value(self) -> float | None:
        """Return the score over all tasks of the run."""
        return self.score["value"] if self.score else None


def leaderboards(comparisons: list[Comparison]) -> list[list[Standing]]:
    """Return the standings, best first: one list, or one per agent if runs have several."""
    counts: dict[str, set[str]] = {}
    for side in _sides(comparisons):
        counts.setdefault(side.run_id, set()).add(side.agent_name)
    if all(len(agents) == 1 for agents in counts.values()):
        return [_standings(comparisons)]
    agents = dict.fromkeys(one.candidate.agent_name for one in comparisons)
    return [
        _standings([one for one in comparisons if one.candidate.agent_name == agent])
        for agent in agents
    ]


def is_separated(comparison: Comparison) -> bool:
    """Tell whether a pair differs: by its verdict, and after the adjustment for all pairs."""
    row = comparison.primary
    # the adjustment is for tasks like these; a verdict about a fixed suite has its own p-value
    p_value = p_value_of(row) if row["is_fixed_suite"] else row["p_value_holm"]
    is_decided = row["verdict"] in ("better", "worse")
    return bool(is_decided and p_value is not None and p_value < row["alpha"])


def _standings(comparisons: list[Comparison]) -> list[Standing]:
    sides = {side.name: side for side in _sides(comparisons)}
    scores = {name: side.score(comparisons[0].score) for name, side in sides.items()}
    ranked = sorted(sides, key=lambda name: _sort_key(scores[name]))
    separated = [
        frozenset((one.baseline.name, one.candidate.name))
        for one in comparisons
        if is_separated(one)
    ]
    letters = compact_letters(ranked, separated)
    return [
        Standing(name, sides[name].run_id, sides[name].agent_name, letters[name], scores[name])
        for name in ranked
    ]


def _sort_key(score: Row | None) -> tuple[bool, float]:
    """Sort the best first, and runs without a score last."""
    value = score["value"] if score else None
    return value is None, -(value or 0.0)


def _sides(comparisons: list[Comparison]) -> list[Side]:
    return [side for one in comparisons for side in (one.baseline, one.candidate)]
