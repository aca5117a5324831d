"""How a collection is asked to end: by a person, an error, or the time."""

from __future__ import annotations

import asyncio
import contextlib

from collector.collection.budget import Budget
from collector.errors import ServerError


class Stop:
    """Asks a collection to end: draw no more, let what is in flight finish."""

    def __init__(self, budget: Budget | None = None) -> None:
        """Start running, perhaps for a limited time."""
        self.budget = budget or Budget()
        self._is_asked = asyncio.Event()
        self.error: ServerError | None = None
        self.is_out_of_time = False

    @property
    def is_asked(self) -> bool:
        """Tell whether the collection is to end."""
        return self._is_asked.is_set()

    def ask(self, error: ServerError | None = None) -> None:
        """Ask, perhaps because of an error."""
        self.error = self.error or error
        self._is_asked.set()

    def ask_in_time(self) -> None:
        """Ask because the time for new rollouts is over."""
        self.is_out_of_time = self.is_out_of_time or not self.is_asked
        self.ask()

    def is_too_late(self) -> bool:
        """Tell whether no new rollout may start; ask for the end if that is because of the time."""
        if self.budget.is_over():
            self.ask_in_time()
        return self.is_asked

    async def wait(self) -> None:
        """Wait until asked."""
        await self._is_asked.wait()

    async def pause(self, seconds: float) -> bool:
        """Wait a while; tell whether to go on."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_asked.wait(), seconds)
        return not self.is_asked
