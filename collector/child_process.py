"""Run Spotter in a child process, and say why it failed."""

from __future__ import annotations

import sys

import orjson


def command(*arguments: str, module: str = "collector") -> list[str]:
    """Return the words that start Spotter, or another module of it, in a process of its own.

    `-P` keeps Python from importing what lies in the current folder: a folder of data may hold
    files and folders that are named like packages.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def failure(exit_code: int, stdout: bytes, stderr: bytes) -> str:
    """Return why a command that was called with `--json` failed."""
    try:
        return str(orjson.loads(stdout)["error"])
    except (ValueError, KeyError, TypeError):  # a defect, or the process was ended
        return f"it ended with exit code {exit_code}{last_line(stderr)}"


def last_line(stderr: bytes) -> str:
    """Return the last line of what a process complained of, behind a colon: it says most."""
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f": {last}" if last else ""
