"""The result of a collection."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from collector.collection.aggregate import Aggregated
from collector.collection.run_files import RunFiles
from collector.collection.state import Tally
from collector.errors import SpotterError


@dataclass(frozen=True)
class Savings:
    """What a stopping rule saved."""

    saved_count: int
    """Rollouts that were not drawn, also in earlier sessions."""
    most_count: int
    """Rollouts that the run would have without the rule."""
    decided_count: int
    task_count: int


@dataclass
class Collected:
    """The result of a collection."""

    files: RunFiles
    expected_count: int
    completed_count: int
    """Completed rollouts, including those of earlier sessions."""
    new_count: int = 0
    seconds: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    """Failed attempts of this session, by class."""
    terminal_count: int = 0
    """Rollouts that failed in a way that is never retried."""
    spent_count: int = 0
    """Rollouts that used up their attempts."""
    last_failure: str | None = None
    unkept_count: int = 0
    unplanned_count: int = 0
    """Missing rollouts that are not in the plan of this session."""
    savings: Savings | None = None
    """What the stopping rule saved so far, if there is one."""
    signal: int | None = None
    is_out_of_time: bool = False
    """Whether the collection ended because its time budget was used up."""
    error: SpotterError | None = None
    tallies: dict[str, Tally] = field(default_factory=dict)
    aggregated: Aggregated | None = None
    aggregation_error: SpotterError | None = None

    def save(self, savings: Savings) -> None:
        """Expect fewer rollouts: those that the stopping rule saved."""
        self.savings = savings
        self.expected_count = savings.most_count - savings.saved_count

    @property
    def missing_count(self) -> int:
        """Return how many rollouts are missing."""
        return self.expected_count - self.completed_count

    @property
    def status(self) -> str:
        """Return in a word how the collection ended."""
        if not self.missing_count:
            return "complete"
        if self.signal:
            return "interrupted"
        if self.error:
            return "stopped"
        return "out_of_time" if self.is_out_of_time else "incomplete"

    @property
    def open_count(self) -> int:
        """Return how many missing rollouts the same command would run on resume."""
        return self.due_count - self.terminal_count - self.spent_count

    @property
    def due_count(self) -> int:
        """Return how many of the rollouts that this session was to run are missing."""
        return self.missing_count - self.unplanned_count
