"""What a reader is given besides the files: the chosen reward, and a meter for the progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from collector.errors import UsageError
from collector.suggestions import unknown_name

Score = float | None
METER_BYTES = 1 << 20


class RewardChoice:
    """Chooses the reward among the scores of an attempt, by the name that the user gave."""

    def __init__(self, name: str | None = None) -> None:
        """Take the name of a score; None means the format's own choice."""
        self.name = name
        self._seen: dict[str, None] = {}
        self._is_found = False

    def choose(self, scores: Mapping[str, Score], default: Score = None) -> Score:
        """Return the chosen score of an attempt, None if it lacks one; `default` without a name."""
        if self.name is None:
            return default
        self._seen.update(dict.fromkeys(scores))
        self._is_found = self._is_found or self.name in scores
        return scores.get(self.name)

    def check(self) -> None:
        """Raise UsageError if no attempt had a score of the chosen name."""
        if self.name is not None and self._seen and not self._is_found:
            raise UsageError(f"--reward {unknown_name(self.name, sorted(self._seen))}")


class Meter:
    """Counts the bytes that were read, and tells a listener now and then."""

    def __init__(self, listener: Callable[[int], None] | None = None) -> None:
        """Take a listener, which gets the number of bytes so far."""
        self.count = 0
        self._listener = listener
        self._next = METER_BYTES

    def add(self, count: int) -> None:
        """Note that so many bytes more were read."""
        self.count += count
        if self._listener and self.count >= self._next:
            self._next = self.count + METER_BYTES
            self._listener(self.count)


@dataclass(frozen=True)
class Reading:
    """How logs are read."""

    rewards: RewardChoice = field(default_factory=RewardChoice)
    meter: Meter = field(default_factory=Meter)
