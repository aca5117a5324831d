"""The table of a run's tasks."""

from __future__ import annotations

import functools

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.listing import Listing
from collector.viewer.marts.run_lists import task_source
from collector.viewer.marts.store import Query, Reader
from collector.viewer.render import page
from collector.warehouse.sql import Row


def tasks(request: Request) -> Response:
    """Show the table of tasks, with the reward of each rollout."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
        source = task_source(reader, run["run_id"], request.query_params)
        state = source.state(request.query_params)
        listing = source.read_page(reader, state, {"run": run["run_id"]})
        strips = read_strips(reader, run["run_id"], listing)
    run_id = run["run_id"]
    return page(
        "tasks.html",
        title=f"Tasks of {run_id}",
        crumbs=[(run_id, links.run(run_id)), ("Tasks", None)],
        run=run,
        listing=listing,
        strips=strips,
        path=functools.partial(links.tasks, run_id),
        threshold=run["pass_threshold"],
        links=links,
    )


def read_strips(reader: Reader, run_id: str, listing: Listing) -> dict[tuple[int, str], list[Row]]:
    """Return the rollouts with their rewards for the tasks on a page, by task and agent."""
    indices = [row["task_index"] for row in listing.rows]
    query = Query(queries.STRIPS, {"run": run_id, "tasks": indices})
    rows = reader.rows(query) if indices else []
    return {(row["task_index"], row["agent_name"]): row["rollouts"] for row in rows}


ROUTES = [Route("/tasks", tasks)]
