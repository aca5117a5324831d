"""The table of a run's rollouts, with the findings of the health checks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts.listing import FILTER, ListingSource
from collector.viewer.marts.lists import ROLLOUT_LISTING
from collector.viewer.marts.overview import add_agent_choices
from collector.viewer.marts.store import Query, Reader
from collector.viewer.render import page
from collector.warehouse.sql import Row

MASK_COLUMNS = ("is_masked", "failure_kind", "failure_reason")
KINDS = """
    select failure_kind as choice from mask_kinds where run_id = $run group by all order by all
"""
VERDICTS = """
    select gym_verdict as choice from rollout_health
    where run_id = $run and gym_verdict is not null
    group by all order by all
"""


def rollouts(request: Request) -> Response:
    """Show the table of rollouts."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
        source = select_columns(reader, run, request.query_params)
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


def select_columns(reader: Reader, run: Row, parameters: Mapping[str, str]) -> ListingSource:
    """Return the table with the columns that this run needs, and the choices of their filters."""
    values = {"run": run["run_id"]}
    kinds = [row["choice"] for row in reader.rows(Query(KINDS, values))]
    verdicts = [row["choice"] for row in reader.rows(Query(VERDICTS, values))]
    filtered = [
        column.name for column in ROLLOUT_LISTING.columns if parameters.get(FILTER + column.name)
    ]
    is_unneeded = {
        **dict.fromkeys(MASK_COLUMNS, not (kinds or {*filtered} & {*MASK_COLUMNS})),
        "gym_verdict": not (verdicts or "gym_verdict" in filtered),
    }
    choices = {
        name: tuple(
            dict.fromkeys([*known, *([parameters[FILTER + name]] if name in filtered else [])])
        )
        for name, known in (("failure_kind", kinds), ("gym_verdict", verdicts))
    }
    columns = tuple(
        replace(column, choices=choices.get(column.name, column.choices))
        for column in ROLLOUT_LISTING.columns
        if not is_unneeded.get(column.name)
    )
    source = replace(ROLLOUT_LISTING, columns=columns)
    return add_agent_choices(reader, run, source, parameters)


ROUTES = [Route("/rollouts", rollouts)]
