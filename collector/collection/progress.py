"""Show how a collection goes."""

from __future__ import annotations

import time
from collections import Counter

from collector.collection.state import Tally
from collector.terminal import Progress
from collector.terminal.blocks import Line, Styled
from collector.terminal.progress import LOG_SECONDS

SHOWN_AGENTS = 5


class CollectProgress(Progress):
    """The progress of a collection: counts, rate, time left, failures and mean rewards."""

    def __init__(self) -> None:
        """Take the time; `start` takes it again."""
        super().__init__()
        self._started = time.monotonic()
        self._first = 0

    def start(self, done: int) -> None:
        """Begin to measure the rate; rollouts of earlier sessions do not count for it."""
        self._started = time.monotonic()
        self._first = done
        self._next_log = self._started + LOG_SECONDS

    def step(self, text: str) -> None:
        """Show a step on a terminal; a log does not get it."""
        self.draw(text)

    def show(
        self,
        *,
        done: int,
        expected: int,
        failures: Counter[str],
        tallies: dict[str, Tally],
        note: str = "",
    ) -> None:
        """Show the state of the collection."""
        rate = self._rate_text(done, expected)
        problems = [f"failed attempts: {format_counts(failures)}"] if failures else []
        problems += [note] if note else []
        self.draw(
            rate,
            done / expected if expected else 1.0,
            (*(Line(Styled(problem, "caution")) for problem in problems), *_mean_lines(tallies)),
            log="; ".join([rate, *problems]),
        )

    def _rate_text(self, done: int, expected: int) -> str:
        share = 100 * done / expected if expected else 100.0
        text = f"{done:,}/{expected:,} rollouts ({share:.1f}%)"
        new_count = done - self._first
        if not new_count:
            return text
        rate = new_count / max(time.monotonic() - self._started, 1e-6)
        return f"{text}, {rate:.1f}/s, about {format_duration((expected - done) / rate)} left"


def format_counts(counts: Counter[str]) -> str:
    """Return the names with their counts, the most frequent first."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common())


def format_duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, like `4 min 05 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def _mean_lines(tallies: dict[str, Tally]) -> list[Line]:
    lines = [
        Line(
            (
                f"{name}: mean reward ",
                Styled(f"{tally.mean:.4f}", "value"),
                f" over {tally.reward_count:,} ",
                Styled("(provisional)", "quiet"),
            ),
            indent=2,
        )
        for name, tally in sorted(tallies.items())
        if tally.mean is not None
    ]
    hidden = len(lines) - SHOWN_AGENTS
    more = [Line(f"… and {hidden} more agents", indent=2)] if hidden > 0 else []
    return [*lines[:SHOWN_AGENTS], *more]
