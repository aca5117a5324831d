"""The objects that every page needs, and the parameters of its address."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from collector.viewer.comparisons import Comparisons
from collector.viewer.live_runs import LiveRuns
from collector.viewer.marts.overview import read_run
from collector.viewer.marts.store import Reader, Store
from collector.viewer.searches import Searches
from collector.viewer.selections import Selections
from collector.viewer.transcripts.files import Transcripts
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class Viewer:
    """The warehouse that the pages show, with the rollouts files of its runs."""

    store: Store
    transcripts: Transcripts
    live_runs: LiveRuns
    comparisons: Comparisons
    selections: Selections
    searches: Searches

    def close(self) -> None:
        """Stop profiling, comparing, choosing and indexing in the background."""
        self.live_runs.close()
        self.comparisons.close()
        self.selections.close()
        self.searches.close()
        self.transcripts.close()


def viewer_of(request: Request) -> Viewer:
    """Return the viewer that serves a request."""
    viewer: Viewer = request.app.state.viewer
    return viewer


def find_run(request: Request, reader: Reader, name: str = "run") -> Row:
    """Return the row of the run that the address names, or raise a 404."""
    run_id = request.query_params.get(name, "")
    if not run_id:
        raise HTTPException(404, f"The address does not name a run. Add {name}=… to it.")
    run = read_run(reader, run_id)
    if run is None:
        raise HTTPException(404, f"There is no run {run_id!r} in this warehouse.")
    return run


def parse_index(request: Request, name: str) -> int:
    """Return a task or rollout index from the address, or raise a 404."""
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise HTTPException(
            404, f"The value of {name} in the address must be a number, not {text!r}."
        )
    return int(text)
