"""Show how far a command is: lines that change on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING

from collector.terminal.streams import column_count, is_terminal, say, write_error

if TYPE_CHECKING:
    from collector.terminal.blocks import Line

# a command that is done sooner shows nothing, rather than a flash
FIRST_SECONDS = 0.5
REDRAW_SECONDS = 0.25
LOG_SECONDS = 30.0
# up one line, and erase it; tmux keeps what other sequences erase in its history
ERASE_LINE = "\x1b[1A\x1b[2K"


class Progress:
    """A progress display on stderr.

    A thread draws it, so that neither the import of rich nor the drawing delays the work. It begins
    after half a second.
    """

    def __init__(self) -> None:
        """Find out whether a terminal shows the progress."""
        self._is_live = is_terminal(sys.stderr)
        self._state: tuple[str, float | None, tuple[Line, ...]] = ("", None, ())
        self._next_log = time.monotonic() + LOG_SECONDS
        self._last_step = ""
        self._painter: threading.Thread | None = None
        self._is_over = threading.Event()

    def __call__(self, done: int, total: int, name: str) -> None:
        """Show a step of several; 0 of 0 is a step of unknown length."""
        if total:
            text = f"{done}/{total} {name}"
            self.draw(text, done / total, log=text)
        elif name.startswith("waiting"):
            self.wait(name)
        else:
            self.draw(name)
        self._last_step = name

    def wait(self, text: str) -> None:
        """Show what the command waits for; a log gets the text once."""
        if not self._is_live and text != self._last_step:
            self.say(text)
        self.draw(text)
        self._last_step = text

    def draw(
        self,
        text: str,
        share: float | None = None,
        details: tuple[Line, ...] = (),
        *,
        log: str = "",
    ) -> None:
        """Show a text with a bar, 0 to 1, and lines below; a log gets `log` every 30 seconds."""
        if self._is_live:
            self._state = (text, share, details)
            if self._painter is None:
                self._is_over.clear()
                self._painter = threading.Thread(target=self._paint, daemon=True)
                self._painter.start()
        elif log and time.monotonic() >= self._next_log:
            self._next_log = time.monotonic() + LOG_SECONDS
            self.say(log)

    def say(self, text: str) -> None:
        """Print a message that stays."""
        self.clear()
        say(text)

    def clear(self) -> None:
        """Remove the display; the next `draw` shows it again."""
        if self._painter is not None:
            self._is_over.set()
            self._painter.join()
            self._painter = None

    def _paint(self) -> None:
        _import_drawing()
        from collector.terminal.drawing import draw_progress

        drawn: list[str] = []
        self._is_over.wait(FIRST_SECONDS)
        while not self._is_over.is_set():
            text, share, details = self._state
            columns = column_count(sys.stderr)
            lines = draw_progress(text, share, details, columns=columns)
            if lines != drawn:
                write_error(ERASE_LINE * len(drawn) + "".join(f"{line}\n" for line in lines))
                drawn = lines
            self._is_over.wait(REDRAW_SECONDS)
        write_error(ERASE_LINE * len(drawn))


def _import_drawing() -> None:
    """Import rich beside the work: each query that ends would else wait 5 ms for this thread."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 20)
    try:
        import_module("collector.terminal.drawing")
    finally:
        sys.setswitchinterval(interval)
