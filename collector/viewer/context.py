"""What every page needs: the warehouse, the transcripts, and what the request asks for."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from collector.viewer.live import Live
from collector.viewer.marts.overview import read_run
from collector.viewer.marts.store import Reader, Store
from collector.viewer.transcripts.files import Transcripts
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class Viewer:
    """The warehouse that is looked at, with the files behind it."""

    store: Store
    transcripts: Transcripts
    live: Live

    def close(self) -> None:
        """End what goes on in the background."""
        self.live.close()
        self.transcripts.close()


def viewer_of(request: Request) -> Viewer:
    """Return the viewer that a request is for."""
    found: Viewer = request.app.state.viewer
    return found


def asked_run(request: Request, reader: Reader, name: str = "run") -> Row:
    """Return the run that the address names."""
    run_id = request.query_params.get(name, "")
    if not run_id:
        raise HTTPException(404, f"The address names no run: it needs {name}=….")
    run = read_run(reader, run_id)
    if run is None:
        raise HTTPException(404, f"There is no run {run_id!r} in this warehouse.")
    return run


def asked_index(request: Request, name: str) -> int:
    """Return an index that the address names."""
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise HTTPException(404, f"{name} in the address must be a number, not {text!r}.")
    return int(text)
