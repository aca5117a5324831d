"""Write NeMo Gym's output files whole or not at all: drafts first, then a rename."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from collector.artifacts import Run
from collector.errors import FileError
from collector.plan import WAREHOUSE

FETCH_ROWS = 256
PROFILES = f"select line from {WAREHOUSE}.exports.export_reward_profiling"
AGENTS = f"select line from {WAREHOUSE}.exports.export_agent_metrics"


class Drafts:
    """Files that wait beside their places until everything else has succeeded."""

    def __init__(self) -> None:
        """Start without files."""
        self._places: dict[Path, Path] = {}

    def write(self, place: Path, chunks: Iterable[str]) -> None:
        """Write a draft of one file and force it to the disk."""
        draft = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        if place.exists() and not place.is_file():
            raise FileError(f"cannot write {place}: something that is no file is in its place")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("w", encoding="utf-8", newline="\n") as file:
                self._places[draft] = place
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"cannot write {place}: {error.strerror}") from error

    def publish(self) -> None:
        """Move every draft to its place."""
        for draft, place in list(self._places.items()):
            try:
                draft.replace(place)
            except OSError as error:
                raise FileError(
                    f"the warehouse has the runs, but {place} cannot be written: {error.strerror}\n"
                    "  what to do: make room for it and profile again"
                ) from error
            del self._places[draft]

    def discard(self) -> None:
        """Remove what was not published."""
        for draft in self._places:
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def drafting() -> Iterator[Drafts]:
    """Give drafts that leave nothing behind when something fails."""
    drafts = Drafts()
    try:
        yield drafts
    finally:
        drafts.discard()


def write_run(connection: duckdb.DuckDBPyConnection, run: Run, drafts: Drafts) -> None:
    """Draft the two output files of a run from the export models."""
    profiles = _lines(connection, f"{PROFILES} where run_id = ? order by task_index", run)
    drafts.write(run.profiling, (line + "\n" for line in profiles))
    agents = _lines(connection, f"{AGENTS} where run_id = ? order by agent_name", run)
    drafts.write(run.agents, ["[", ",".join(agents), "]"])


def _lines(connection: duckdb.DuckDBPyConnection, query: str, run: Run) -> Iterator[str]:
    result = connection.execute(query, [run.run_id])
    while rows := result.fetchmany(FETCH_ROWS):
        for (line,) in rows:
            yield line
