"""The formats that can be imported, in the order in which they are asked about a file.

A format is a module of this package that has:

`NAME`
    What `--from` and the output call it.
`claim(file: Candidate) -> Claim | None`
    Tells from the content whether a file is a log of the format (`Claim.LOG`), a file that lies
    beside logs and is read with them (`Claim.PART`), or neither. The first format that claims a
    file gets it. A claim reads little: `file.head` and `file.first_object` are there already.
`open_logs(files: list[Path], reading: Reading) -> list[Log]`
    Returns the runs in some log files, in an order that depends on the files alone. The files are
    those that were claimed as `Claim.LOG`, or that the user named together with `--from`; the
    format finds the parts beside them. Several files may be one run (one per benchmark), and one
    file may have several runs. Several runs are written to several outputs, by their labels.
    Raises FileError if a file must be refused, and UsageError if the options do not fit.

A log gives attempts in the shape of `attempts`. Some rules hold for all formats:

- `task_id` is the hash of the input row, so `Attempt.asked` has only what the question consists of,
  in the form of `asked.asked_row`. Ids, epochs, categories and file names go into `details`.
- `Attempt.task` is the framework's own name of the task. It tells tasks apart inside a run.
- A reward is chosen with `reading.rewards.choose(scores, default)`, so that `--reward` works.
- A reward that the framework itself calls invalid stays in `Attempt.reward`; `Attempt.mask` says
  why it does not count. `Attempt.finding` says what went wrong although the reward counts.
- Lines are read with `lines.read_rows`, which counts the bytes for the progress display. What is
  read in another way is reported with `reading.meter.add(bytes)`.
- Chat messages become items with `messages.chat_items`.
- What cannot be carried over is a sentence of `losses()`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from collector.importing.attempts import Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.reading import Reading

MODULES = {
    "inspect": "inspect",
    "verl": "verl",
    "lm_eval": "lm_eval",
    "nemo_evaluator": "nemo_evaluator",
    "verifiers": "verifiers",
    "harbor": "harbor",
    "terminal_bench": "terminal_bench",
    "atif": "atif",
}
"""The modules by the names of their formats."""


class Format(Protocol):
    """A format that can be imported."""

    NAME: str

    def claim(self, file: Candidate) -> Claim | None:
        """Tell whether a file belongs to the format, and as what."""
        ...

    def open_logs(self, files: list[Path], reading: Reading) -> list[Log]:
        """Return the runs in some log files."""
        ...


def load_format(name: str) -> Format:
    """Return a format of `MODULES` by its name."""
    return cast(Format, import_module(f"{__name__}.{MODULES[name]}"))
