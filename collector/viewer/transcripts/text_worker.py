"""Index the texts of a rollouts file in a process of its own: the viewer must stay responsive.

It reads a request as one line of JSON from standard input, and prints an empty object when the
index is up to date, or the reason if that fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from collector.child_process import spotter_command
from collector.errors import SpotterError
from collector.viewer.transcripts.text_index import TextIndex


def worker_command() -> list[str]:
    """Return the command line that starts this module."""
    return spotter_command(module="collector.viewer.transcripts.text_worker")


def request_line(index: TextIndex) -> bytes:
    """Return the request to bring an index up to date, as the worker reads it."""
    return orjson.dumps([str(index.rollouts), str(index.path.parent)]) + b"\n"


def main() -> None:
    """Answer the request on standard input."""
    rollouts, folder = orjson.loads(sys.stdin.buffer.readline())
    try:
        TextIndex(Path(rollouts), Path(folder)).update(lambda _done, _total: None)
    except SpotterError as error:
        sys.stdout.buffer.write(orjson.dumps({"error": str(error)}))
        sys.exit(error.exit_code)
    sys.stdout.buffer.write(b"{}")


if __name__ == "__main__":
    main()
