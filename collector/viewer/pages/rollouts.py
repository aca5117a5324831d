"""The table of a run's rollouts, with the findings of the health checks."""

from __future__ import annotations

import functools

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.artifacts import rollouts_files
from collector.keys import Key
from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts.listing import Listing
from collector.viewer.marts.run_lists import rollout_source
from collector.viewer.pages.task import PageTranscripts
from collector.viewer.render import page
from collector.viewer.transcripts.spoken_text import Excerpt, excerpt, spoken_text

MOST_IN_QUERY = 200
"""How many rollouts that a search has found a query may list and still be read."""


def rollouts(request: Request) -> Response:
    """Show the table of rollouts; a search looks into the answers and into what rollouts say."""
    viewer, parameters, links = viewer_of(request), request.query_params, Links()
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
    run_id = run["run_id"]
    query = parameters.get("q", "").strip()
    search = viewer.searches.search(rollouts_files(run["rollouts_path"]), query)
    with viewer.store.open_reader() as reader:
        source = rollout_source(reader, run_id, parameters, search.keys)
        listing = source.read_page(reader, source.state(parameters), {"run": run_id})
    return page(
        "rollouts.html",
        title=f"Rollouts of {run_id}",
        crumbs=[(run_id, links.run(run_id)), ("Rollouts", None)],
        run=run,
        listing=listing,
        whole=_whole_columns(listing),
        search=search,
        excerpts=_read_excerpts(listing, PageTranscripts(viewer.transcripts, run), query),
        has_query=len(search.keys) <= MOST_IN_QUERY,
        reload_seconds=2 if search.is_waiting else 0,
        path=functools.partial(links.rollouts, run_id),
        threshold=run["pass_threshold"],
        links=links,
    )


def _whole_columns(listing: Listing) -> set[str]:
    """Return the columns of the page whose values are all whole numbers, such as flags."""
    values = {
        column.name: [row.get(column.name) for row in listing.rows] for column in listing.columns
    }
    return {
        name
        for name, found in values.items()
        if all(
            value is None or (isinstance(value, float) and value.is_integer()) for value in found
        )
    }


def _read_excerpts(
    listing: Listing, transcripts: PageTranscripts, query: str
) -> dict[Key, Excerpt]:
    """Return where the rollouts of a page say what the user searches for."""
    keys = [(row["task_index"], row["rollout_index"]) for row in listing.rows] if query else []
    stored = {key: transcripts.read(*key) for key in keys}
    found = {key: excerpt(spoken_text(one.row), query) for key, one in stored.items() if one}
    return {key: one for key, one in found.items() if one}


ROUTES = [Route("/rollouts", rollouts)]
