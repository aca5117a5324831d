"""The errors that end a command, each with its exit code.

SpotterError
├── InvariantError   1  the data broke an invariant
├── UsageError       2  wrong usage or settings
├── ServerError      3  a server could not be reached or answered wrongly
└── FileError        4  a file could not be read or written
    ├── LinesError   4  lines of a file are not valid rows
    └── BusyError    4  another process is using the warehouse

A gate is not an error: `spotter compare --gate` exits with 1 if it fails, and with 5 if the data
cannot tell whether it is passed.
"""


class SpotterError(Exception):
    """A failure that a person can act on: the message says what, where, how many and what to do."""

    exit_code = 1

    @property
    def messages(self) -> list[str]:
        """Return what the command prints: one message for each thing that is wrong."""
        return [str(self)]


class InvariantError(SpotterError):
    """The data broke an invariant."""

    exit_code = 1


class UsageError(SpotterError):
    """The command was called with wrong options or settings."""

    exit_code = 2


class ServerError(SpotterError):
    """A server could not be reached or answered wrongly."""

    exit_code = 3


class FileError(SpotterError):
    """A file could not be read or written."""

    exit_code = 4


def install_extra(name: str) -> str:
    """Say how to install what an optional feature needs.

    Another project has the name `spotter` in the package index, so the name alone is not enough.
    """
    return f"in the checkout of Spotter: pip install '.[{name}]'"


class BusyError(FileError):
    """Another process is using the warehouse, and did not finish in time."""


class LinesError(FileError):
    """Lines of a file are not valid rows: their count, and the numbers of the first few."""

    def __init__(self, message: str, *, count: int, numbers: list[int]) -> None:
        """Take the count and the line numbers as data too, for scripts."""
        super().__init__(message)
        self.count = count
        self.numbers = numbers
