"""Commands that run Spotter in a child process, and the reason if one fails."""

from __future__ import annotations

import sys

import orjson


def spotter_command(*arguments: str, module: str = "collector") -> list[str]:
    """Return the command line that starts Spotter, or one of its modules, in a child process.

    `-P` keeps Python from importing from the current folder: a folder of data may hold files and
    folders that are named like packages.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def failure_reason(exit_code: int, stdout: bytes, stderr: bytes) -> str:
    """Return the reason why a command with `--json` failed."""
    try:
        return str(orjson.loads(stdout)["error"])
    except (ValueError, KeyError, TypeError):  # a bug, or somebody killed the process
        return f"it ended with exit code {exit_code}{last_line(stderr)}"


def last_line(stderr: bytes) -> str:
    """Return the last line of a process's stderr after a colon, or an empty text."""
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f": {last}" if last else ""
