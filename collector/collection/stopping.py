"""Ask a collection to end: because of a person, an error, or the time."""

from __future__ import annotations

import asyncio
import contextlib

from collector.collection.budget import Budget
from collector.errors import ServerError


class Stop:
    """Asks a collection to start no more rollouts and to finish those in flight."""

    def __init__(self, budget: Budget | None = None) -> None:
        """Prepare a collection that runs until asked, or until its budget is over."""
        self.budget = budget or Budget()
        self._is_asked = asyncio.Event()
        self.error: ServerError | None = None
        self.is_out_of_time = False

    @property
    def is_asked(self) -> bool:
        """Tell whether the collection was asked to end."""
        return self._is_asked.is_set()

    def ask(self, error: ServerError | None = None) -> None:
        """Ask the collection to end; keep the first error as the reason."""
        self.error = self.error or error
        self._is_asked.set()

    def ask_in_time(self) -> None:
        """Ask the collection to end because its time is over."""
        self.is_out_of_time = self.is_out_of_time or not self.is_asked
        self.ask()

    def is_too_late(self) -> bool:
        """Tell whether no new rollout may start; ask to end if the budget is over."""
        if self.budget.is_over():
            self.ask_in_time()
        return self.is_asked

    async def wait(self) -> None:
        """Wait until the collection is asked to end."""
        await self._is_asked.wait()

    async def wait_for(self, event: asyncio.Event) -> None:
        """Wait for an event, or until the collection is asked to end."""
        waits = [asyncio.create_task(one.wait()) for one in (event, self._is_asked)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def pause(self, seconds: float) -> bool:
        """Wait so many seconds, or until asked to end; tell whether to continue."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_asked.wait(), seconds)
        return not self.is_asked
