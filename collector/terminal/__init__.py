"""Write to the terminal: in colour and with tables for people, as plain text for pipes and logs.

A command describes what it shows once, as the blocks of `blocks`. `plain_text` makes text of them;
`drawing` draws them with rich, which is imported only if a terminal reads the output.
"""

from collector.terminal.progress import Progress
from collector.terminal.streams import say, show, write_error, write_output
from collector.terminal.text import (
    counted_noun,
    duration_text,
    label,
    printable,
    printable_lines,
    relative_path,
)

__all__ = [
    "Progress",
    "counted_noun",
    "duration_text",
    "label",
    "printable",
    "printable_lines",
    "relative_path",
    "say",
    "show",
    "write_error",
    "write_output",
]
