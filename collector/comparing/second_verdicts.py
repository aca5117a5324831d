"""Two verdicts on the same rollouts: what the marts say about a run that was verified again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from collector.profiling.run_records import recorded_part
from collector.terminal import label
from collector.warehouse.sql import Row

LISTED_CHANGES = 100
PAIR = "baseline_run_id = ? and run_id = ? and baseline_agent_name = ? and agent_name = ?"


@dataclass(frozen=True)
class SecondVerdicts:
    """The agreement of two verdicts on the same rollouts."""

    row: Row
    """The row of `verdict_comparisons`."""
    changes: list[Row]
    """The rollouts to look at first, from `verdict_changes`."""
    notes: list[str]
    """What the records say about how the rollouts were verified again."""

    @property
    def change_count(self) -> int:
        """Return how many rollouts pass in one run only."""
        return int(self.row["fail_to_pass_count"] + self.row["pass_to_fail_count"])


def read_second_verdicts(
    connection: duckdb.DuckDBPyConnection, key: list[str], runs: list[Row]
) -> SecondVerdicts | None:
    """Return the two verdicts of a pair of runs; None if their rollouts are not the same."""
    rows = _rows(connection, f"select * from verdict_comparisons where {PAIR}", key)
    if not rows:
        return None
    changes = _rows(
        connection,
        f"select * from verdict_changes where {PAIR} order by change_rank limit {LISTED_CHANGES}",
        key,
    )
    return SecondVerdicts(rows[0], changes, [note for run in runs for note in _notes(run)])


def _notes(run: Row) -> list[str]:
    origin = recorded_part(Path(run["rollouts_path"]), "origin")
    name = label(run["run_id"])
    notes = {
        "is_unsafe": f"{name} was verified by force: a verifier of it does not say that it works"
        " without the session of the rollout, so its verdicts may be wrong.",
        "judge_failed_only": f"In {name}, only rollouts whose judge had failed were verified again:"
        " the others carry their verdict over, so they agree.",
    }
    return [text for field, text in notes.items() if origin.get(field) is True]


def _rows(connection: duckdb.DuckDBPyConnection, query: str, key: list[str]) -> list[Row]:
    result = connection.execute(query, key)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
