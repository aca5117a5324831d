"""The table of a run's rollouts, with the findings of the health checks."""

from __future__ import annotations

import functools

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts.run_lists import rollout_source
from collector.viewer.render import page


def rollouts(request: Request) -> Response:
    """Show the table of rollouts."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
        source = rollout_source(reader, run["run_id"], request.query_params)
        listing = source.read_page(
            reader, source.state(request.query_params), {"run": run["run_id"]}
        )
    run_id = run["run_id"]
    return page(
        "rollouts.html",
        title=f"Rollouts of {run_id}",
        crumbs=[(run_id, links.run(run_id)), ("Rollouts", None)],
        run=run,
        listing=listing,
        path=functools.partial(links.rollouts, run_id),
        threshold=run["pass_threshold"],
        links=links,
    )


ROUTES = [Route("/rollouts", rollouts)]
