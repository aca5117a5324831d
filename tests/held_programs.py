"""Hold a `WarmProgram` at a step that on a fast machine is over before a test can look."""

from __future__ import annotations

import signal
import threading
from typing import Any
from unittest.mock import patch

from collector.comparing import worker
from collector.profiling import publish
from collector.terminal import Progress, progress, write_error
from collector.viewer import comparison_report

PATIENCE_SECONDS = 60
"""After this long, what the program waits for will not come."""


def hold_first_bar() -> None:
    """Let the first step with a bar to see last until the bar is on the terminal."""
    draw = Progress.draw
    is_shown = threading.Event()

    def write_and_note(text: str) -> None:
        write_error(text)
        if "━" in text:
            is_shown.set()

    def draw_and_wait(self: Progress, text: str, share: float | None = None, **more: Any) -> None:
        draw(self, text, share, **more)
        if share and share > 0.1:  # without colour, the bar of less than that may be empty
            assert is_shown.wait(PATIENCE_SECONDS), "the terminal does not show the bar"

    patch.object(progress, "write_error", write_and_note).start()
    patch.object(Progress, "draw", draw_and_wait).start()


def hold_before_commit() -> None:
    """Let a profile stop for good inside of its transaction, when its files are written."""
    write = publish.write_run

    def write_and_stop(*given: Any) -> None:
        write(*given)
        signal.pause()

    patch.object(publish, "write_run", write_and_stop).start()


def hold_in_comparison() -> None:
    """Let a report of two runs stop for good when it has compared them."""
    compare = worker.compare_into_file

    def compare_and_stop(*given: Any) -> None:
        compare(*given)
        signal.pause()

    patch.object(comparison_report, "compare_into_file", compare_and_stop).start()
