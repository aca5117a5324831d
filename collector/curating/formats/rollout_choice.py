"""Look up which rollouts of a run the mart `rollout_pairs` chose, and read them from their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from collector.errors import UsageError
from collector.stored_rollouts import Reader, open_reader
from collector.terminal import label
from collector.warehouse.access import WAREHOUSE

RUN = f"select rollouts_path from {WAREHOUSE}.main.runs where run_id = ?"
PAIRS = f"""
    select
        agent_name, task_index, best_rollout_index, best_reward, is_best_pass,
        worst_rollout_index, worst_reward, is_worst_pass, reward_difference
    from {WAREHOUSE}.main.rollout_pairs where run_id = ?
"""


@dataclass(frozen=True, slots=True)
class RolloutPair:
    """The best and the worst rollout of a task that can be trained on."""

    best: int
    best_reward: float
    is_best_pass: bool
    worst: int
    worst_reward: float
    is_worst_pass: bool
    difference: float | None


@dataclass(frozen=True)
class RolloutSource:
    """The rollouts file of a run, and the rollouts of each task to choose from."""

    rollouts: Path
    index_parent: Path
    """The folder of the warehouse, where indexes of rollouts files are kept."""
    pairs: Mapping[int, RolloutPair]

    def reader(self) -> AbstractContextManager[Reader]:
        """Return a block's function that reads the rollout of a task and a rollout index."""
        return open_reader([self.rollouts], self.index_parent)


def find_source(
    connection: duckdb.DuckDBPyConnection,
    warehouse: Path,
    run_id: str,
    agent_name: str | None = None,
) -> RolloutSource:
    """Return the rollouts of a run, from the attached warehouse.

    Raise UsageError if several agents ran a task and none is named, or if the named one did not.
    """
    run = connection.execute(RUN, [run_id]).fetchone()
    rows = connection.execute(PAIRS, [run_id]).fetchall()
    if run is None:
        raise UsageError(f"{label(run_id)} is not a run of {warehouse}")
    _check_agent(rows, agent_name)
    pairs = {row[1]: RolloutPair(*row[2:]) for row in rows if agent_name in (None, row[0])}
    return RolloutSource(Path(run[0]), warehouse.parent, pairs)


def _check_agent(rows: Sequence[tuple[Any, ...]], wanted: str | None) -> None:
    agents = {row[0] for row in rows}
    names = ", ".join(label(name) for name in sorted(agents))
    if wanted is not None and agents and wanted not in agents:
        raise UsageError(f"--agent {label(wanted)}: the run has rollouts of {names}")
    if wanted is None and len({row[1] for row in rows}) < len(rows):
        raise UsageError(
            f"the run has rollouts of several agents: {names}\n"
            "  what to do: choose one of them with --agent"
        )
