"""Limit processor time, which the load of the machine does not change."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Fail if the code takes more processor time; regular expressions notice the signal too."""

    def fail(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the form of a handler
        raise AssertionError(f"took more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
