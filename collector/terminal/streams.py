"""Write to stdout and stderr, and find out whether a terminal reads them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from collector.terminal.text import printable_lines

if TYPE_CHECKING:
    from collector.terminal.blocks import Block

DUMB_TERMINALS = ("dumb", "unknown")
DEFAULT_COLUMNS = 80


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a terminal that understands escape sequences reads a stream."""
    if stream is None or stream.closed or os.environ.get("TERM", "").lower() in DUMB_TERMINALS:
        return False
    return stream.isatty()


def column_count(stream: TextIO) -> int:
    """Return the width of the terminal that reads a stream; COLUMNS overrides it."""
    with contextlib.suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", "0"))) > 0:
            return columns
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS


def write_error(text: str) -> None:
    """Write to stderr; a closed stderr is not an error."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr:
            sys.stderr.write(text)
            sys.stderr.flush()


def write_output(text: str) -> None:
    """Write to stdout; if its reader is gone, drop the text and keep the command's exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter would try to flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(blocks: Sequence[Block]) -> None:
    """Write blocks to stdout: drawn for a terminal, as plain text otherwise."""
    if is_terminal(sys.stdout):
        from collector.terminal.drawing import draw_blocks

        write_output(draw_blocks(blocks, columns=column_count(sys.stdout)))
    else:
        from collector.terminal.blocks import plain_text

        write_output(f"{plain_text(blocks)}\n")


def say(text: str) -> None:
    """Write a message to stderr; on a terminal, `error:` and `warning:` stand out."""
    if is_terminal(sys.stderr):
        from collector.terminal.drawing import draw_message

        write_error(draw_message(text, columns=column_count(sys.stderr)))
    else:
        write_error(f"{printable_lines(text)}\n")
