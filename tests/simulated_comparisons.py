"""Simulate hundreds of pairs of runs in one build: how often do intervals hold and verdicts err?

Each simulated pair is a slice of two large runs, sliced by a field of its own: no verdict is
adjusted for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tests.comparisons import AGENT, compare, rows_of, write_marts
from tests.support import Row

Rates = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """What a simulated pair is drawn from."""

    tasks: int
    repeats: int
    # the pass rates of tasks: a beta distribution, scaled to leave room for the shift
    shape: tuple[float, float] = (1.0, 1.0)
    # the candidate's rates: moved by the same shift, and up or down by the spread at random
    shift: float = 0.0
    spread: float = 0.0

    def rates(self, rng: np.random.Generator, pairs: int) -> tuple[Rates, Rates]:
        """The pass rates of both runs, a row for each pair."""
        size = (pairs, self.tasks)
        room = abs(self.shift) + 2 * self.spread
        baseline = self.spread + (1 - room) * rng.beta(*self.shape, size)
        moved = self.shift + self.spread * rng.choice((-1.0, 1.0), size)
        return baseline, np.clip(baseline + moved, 0, 1)


@dataclass(frozen=True)
class Outcome:
    """What happened in the simulated pairs of a design, as shares of them."""

    design: Design
    coverage: float
    fixed_coverage: float | None
    rejected: float
    equivalent: float


def simulate(
    path: Path, designs: Sequence[Design], *, pairs: int, margin: float, seed: int
) -> list[Outcome]:
    """Draw pairs of runs for each design, compare all in one build, and count."""
    rng = np.random.default_rng(seed)
    frames: list[pd.DataFrame] = []
    truths: dict[str, float] = {}
    for place, design in enumerate(designs):
        baseline, candidate = design.rates(rng, pairs)
        names = [f"design{place:03}-{pair:05}" for pair in range(pairs)]
        truths.update(zip(names, (candidate - baseline).mean(1), strict=True))
        for run_id, rates in (("a", baseline), ("b", candidate)):
            frames.append(drawn(run_id, names, rng.binomial(design.repeats, rates), design.repeats))
    write(path, frames)
    compare(path, [("a", "b")], margin=margin)
    found: dict[str, list[Row]] = {}
    for row in rows_of(path, "run_comparisons", "score = 'pass_rate' and slice_by != 'all'"):
        found.setdefault(row["slice_by"].split("-")[0], []).append(row)
    return [
        counted(design, found[f"design{place:03}"], truths) for place, design in enumerate(designs)
    ]


def drawn(run_id: str, names: list[str], passes: NDArray[np.int64], repeats: int) -> pd.DataFrame:
    """The tasks of simulated pairs, in the columns of the marts."""
    mean = passes.ravel() / repeats
    tasks = passes.shape[1]
    return pd.DataFrame(
        {
            "run_id": run_id,
            "slice_by": np.repeat(names, tasks),
            "place": np.tile(np.arange(tasks), len(names)),
            "measured_rollout_count": repeats,
            "rollout_count": repeats,
            "pass_count": passes.ravel(),
            "reward_mean": mean,
            "reward_min": (mean == 1).astype(float),
            "reward_max": (mean > 0).astype(float),
            "reward_std": np.sqrt(mean * (1 - mean) * repeats / max(repeats - 1, 1)),
        }
    )


def write(path: Path, frames: Sequence[pd.DataFrame]) -> None:
    tasks = pd.concat(frames)
    tasks["agent_name"] = AGENT
    tasks["task_id"] = tasks["slice_by"] + ":" + tasks["place"].astype(str)
    tasks["task_index"] = tasks.groupby("run_id").cumcount()
    tasks["slice_value"] = "x"
    agents = pd.DataFrame({"run_id": ["a", "b"], "agent_name": AGENT, "clean_ratio": 1.0})
    write_marts(
        path,
        tasks=tasks.drop(columns=["slice_by", "slice_value", "place"]),
        slices=tasks[["run_id", "agent_name", "task_index", "slice_by", "slice_value"]],
        agents=agents,
        dropped={"a": 0, "b": 0},
        repeats=pd.DataFrame(),
    )


def counted(design: Design, rows: Sequence[Row], truths: dict[str, float]) -> Outcome:
    """The mean shift is what holds for new tasks; on these tasks it is the mean of their own."""
    covered = [row["low"] <= design.shift <= row["high"] for row in rows]
    fixed = [
        row["fixed_low"] <= truths[row["slice_by"]] <= row["fixed_high"]
        for row in rows
        if row["fixed_low"] is not None
    ]
    verdicts = [row["verdict"] for row in rows]
    return Outcome(
        design,
        coverage=float(np.mean(covered)),
        fixed_coverage=float(np.mean(fixed)) if fixed else None,
        rejected=float(np.mean([verdict in ("better", "worse") for verdict in verdicts])),
        equivalent=float(np.mean([verdict == "equivalent" for verdict in verdicts])),
    )
