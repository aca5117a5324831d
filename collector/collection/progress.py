"""Show how a collection goes: lines that change on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter

from collector.collection.state import Tally
from collector.terminal import printable, printable_lines, write_error

LIVE_SECONDS = 0.25
LOG_SECONDS = 30.0
SHOWN_AGENTS = 5


class CollectProgress:
    """What a person wants to see while waiting."""

    def __init__(self) -> None:
        """Look whether somebody is watching."""
        self._is_live = sys.stderr is not None and sys.stderr.isatty()
        self._lines = 0
        self._next = 0.0
        self._started = time.monotonic()
        self._first = 0

    def start(self, done: int) -> None:
        """Begin to measure: what was done before does not count for the rate."""
        self._started = time.monotonic()
        self._first = done
        self._next = self._started + (0 if self._is_live else LOG_SECONDS)

    def say(self, text: str) -> None:
        """Print a message that stays."""
        self.clear()
        write_error(f"{printable_lines(text)}\n")

    def step(self, text: str) -> None:
        """Show a passing step, where somebody is watching."""
        if self._is_live and time.monotonic() >= self._next:
            self._next = time.monotonic() + LIVE_SECONDS
            self._draw([text])

    def show(
        self,
        *,
        done: int,
        expected: int,
        failures: Counter[str],
        tallies: dict[str, Tally],
        note: str = "",
    ) -> None:
        """Show the state, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (LIVE_SECONDS if self._is_live else LOG_SECONDS)
        lines = [self._rate_line(done, expected, now)]
        if failures:
            lines.append("failed attempts: " + counted(failures))
        if note:
            lines.append(note)
        if self._is_live:
            self._draw([*lines, *_reward_lines(tallies)])
        else:
            self.say("; ".join(lines))

    def clear(self) -> None:
        """Take the changing lines away."""
        if self._is_live and self._lines:
            write_error(f"\x1b[{self._lines}A\x1b[J")
        self._lines = 0

    def _rate_line(self, done: int, expected: int, now: float) -> str:
        share = 100 * done / expected if expected else 100.0
        line = f"{done:,}/{expected:,} rollouts ({share:.1f}%)"
        fresh = done - self._first
        if not fresh:
            return line
        rate = fresh / max(now - self._started, 1e-6)
        return f"{line}, {rate:.1f}/s, about {duration((expected - done) / rate)} left"

    def _draw(self, lines: list[str]) -> None:
        width = shutil.get_terminal_size().columns
        text = "".join(f"{printable(line)[: width - 1]}\n" for line in lines)
        self.clear()
        write_error(text)
        self._lines = len(lines)


def counted(failures: Counter[str]) -> str:
    """Name the classes of failures, the most frequent first."""
    return ", ".join(f"{kind} {count:,}" for kind, count in failures.most_common())


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def _reward_lines(tallies: dict[str, Tally]) -> list[str]:
    lines = [
        f"  {name}: mean reward {tally.mean:.4f} over {tally.reward_count:,} (provisional)"
        for name, tally in sorted(tallies.items())
        if tally.mean is not None
    ]
    more = len(lines) - SHOWN_AGENTS
    return [*lines[:SHOWN_AGENTS], *([f"  … and {more} more agents"] if more > 0 else [])]
