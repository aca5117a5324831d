"""The time in which rollouts may start: the next session collects the rest."""

from __future__ import annotations

import time
from collections import deque

FEWEST = 5
REMEMBERED = 1000
QUANTILE = 0.75


class Budget:
    """A number of seconds from now; the last ones are for rollouts in flight."""

    def __init__(self, seconds: float | None = None, margin: float | None = None) -> None:
        """Start the clock; without a margin, use the time that most rollouts of this run take."""
        self._until = None if seconds is None else time.monotonic() + seconds
        self._margin = margin
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    @property
    def seconds_left(self) -> float | None:
        """Return how many seconds are left, or None without a limit."""
        return None if self._until is None else self._until - time.monotonic()

    def note(self, seconds: float) -> None:
        """Note how many seconds a rollout took."""
        self._seconds.append(seconds)

    def is_over(self) -> bool:
        """Tell whether a rollout that starts now would probably not finish in time."""
        left = self.seconds_left
        return left is not None and (left <= 0 or left < self.margin)

    @property
    def margin(self) -> float:
        """Return the seconds that a rollout needs: as given, or what three of four took so far."""
        if self._margin is not None:
            return self._margin
        if len(self._seconds) < FEWEST:
            return 0.0
        ordered = sorted(self._seconds)
        return ordered[round((len(ordered) - 1) * QUANTILE)]
