"""Compare two runs in a process of its own: the viewer must stay responsive and small.

It reads a request as one line of JSON from standard input, and writes the comparison marts to a
new DuckDB file. It never writes to the warehouse.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import orjson

from collector.child_process import spotter_command
from collector.comparing.compare import ComparisonSettings, Pair, write_comparisons
from collector.errors import SpotterError
from collector.warehouse.scratch import log_defects, open_scratch

MEMORY_LIMIT = "1GB"


def worker_command() -> list[str]:
    """Return the command line that starts this module."""
    return spotter_command(module="collector.comparing.worker")


def request_of(warehouse: Path, pair: Pair, settings: ComparisonSettings, target: Path) -> bytes:
    """Return the request that makes the worker compare a pair."""
    request = {"warehouse": str(warehouse), "target": str(target), "pair": pair}
    return orjson.dumps({**request, "settings": settings}) + b"\n"


def main() -> None:
    """Answer the request on standard input; print the reason as JSON if that fails."""
    request = orjson.loads(sys.stdin.buffer.readline())
    try:
        with log_defects("compare"):
            compare_into_file(
                Path(request["warehouse"]),
                Pair(**request["pair"]),
                ComparisonSettings(**request["settings"]),
                Path(request["target"]),
            )
    except SpotterError as error:
        sys.stdout.buffer.write(orjson.dumps({"error": str(error)}))
        sys.exit(error.exit_code)


def compare_into_file(
    warehouse: Path, pair: Pair, settings: ComparisonSettings, target: Path
) -> None:
    """Write the comparison marts of a pair to a new DuckDB file; the warehouse is only read.

    The file is in a folder that the caller removes, whatever happens: DuckDB spills into it.
    """
    spill = target.with_suffix(".spill")
    with contextlib.closing(open_scratch(MEMORY_LIMIT, spill)) as connection:
        write_comparisons(connection, warehouse, [pair], settings, target)


if __name__ == "__main__":
    main()
