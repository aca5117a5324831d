"""The comparison of two runs."""

from __future__ import annotations

import functools
from dataclasses import replace
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.charts import Chart, Series
from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import ListingSource, LongTexts
from collector.viewer.marts.overview import Overview, read_overview, score_label
from collector.viewer.render import page
from collector.warehouse.sql import Row

SOURCE = ListingSource(
    columns=(
        ListingColumn("first_task", "Task in A", hint="12"),
        ListingColumn("second_task", "Task in B", hint="12"),
        ListingColumn("prompt", "Prompt", "text"),
        ListingColumn("first_pass", "Pass rate in A", hint="<0.5"),
        ListingColumn("second_pass", "Pass rate in B", hint=">0.5"),
        ListingColumn("first_reward", "Mean reward in A"),
        ListingColumn("second_reward", "Mean reward in B"),
        ListingColumn("change", "B minus A", hint="<0"),
        ListingColumn("change_size", "Change", hint=">0.2"),
    ),
    rows=queries.SHARED_TASKS,
    key="first_task, second_task",
    search="prompt",
    texts=(LongTexts(queries.FIRST_PROMPTS, "first_task", ("prompt",)),),
    default_sort="-change_size",
)


def compare(request: Request) -> Response:
    """Show the scores, charts and tasks of two runs side by side."""
    selected = request.query_params.getlist("side")
    if selected:  # the form of the page of runs
        return RedirectResponse(_comparison_address(selected), status_code=303)
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        first, second = find_run(request, reader, "a"), find_run(request, reader, "b")
        parameters = request.query_params
        sides = [
            read_overview(reader, first, parameters.get("agent_a"), links),
            read_overview(reader, second, parameters.get("agent_b"), links),
        ]
        values = {
            "first": first["run_id"],
            "first_agent": sides[0].agent,
            "second": second["run_id"],
            "second_agent": sides[1].agent,
        }
        listing = SOURCE.read_page(reader, SOURCE.state(parameters), values)
    keep = {"a": values["first"], "b": values["second"]}
    keep |= {name: parameters[name] for name in ("agent_a", "agent_b") if parameters.get(name)}
    return page(
        "compare.html",
        title="Compare runs",
        crumbs=[("Compare", None)],
        sides=sides,
        scores=_pair_scores(*sides),
        charts=_pair_charts(*sides),
        listing=listing,
        keep=keep,
        path=functools.partial(links.to, "/compare", **keep),
        links=links,
    )


def _comparison_address(sides: list[str]) -> str:
    """Return the address that compares two sides, each a run and an agent, or raise a 400."""
    if len(sides) != 2:
        raise HTTPException(400, f"Select two runs to compare. You selected {len(sides)}.")
    (first, _, agent_a), (second, _, agent_b) = (side.partition("&") for side in sides)
    agents = {"agent_a": unquote(agent_a), "agent_b": unquote(agent_b)}
    return Links().compare(unquote(first), unquote(second), **agents)


def _pair_scores(first: Overview, second: Overview) -> list[tuple[str, Row | None, Row | None]]:
    """Pair the scores of both runs by label; the same score with another k is a different score."""
    left = {score_label(row): row for row in first.scores.rows}
    right = {score_label(row): row for row in second.scores.rows}
    return [(label, left.get(label), right.get(label)) for label in {**left, **right}]


def _pair_charts(first: Overview, second: Overview) -> list[Chart]:
    """Return the charts that can show both runs, because their axes are the same."""
    charts = {chart.name: chart for chart in second.charts}
    return [
        _overlay_charts(chart, charts[chart.name])
        for chart in first.charts
        if chart.name == "attempts" and chart.name in charts
    ]


def _overlay_charts(first: Chart, second: Chart) -> Chart:
    places = sorted({*first.x, *second.x}, key=float)
    return replace(
        first,
        x=places,
        series=[
            *(_align_series(f"A {one.name}", one, first.x, places) for one in first.series),
            *(_align_series(f"B {one.name}", one, second.x, places) for one in second.series),
        ],
        rows=[{"run": side, **row} for side, c in (("A", first), ("B", second)) for row in c.rows],
    )


def _align_series(
    name: str, series: Series, known: list[float | str], places: list[float | str]
) -> Series:
    """Return a series with values for all places; None where it has no value."""

    def align(values: list[float | None]) -> list[float | None]:
        by_place = dict(zip(known, values, strict=True))
        return [by_place.get(place) for place in places]

    return Series(name, align(series.y), align(series.low), align(series.high))


ROUTES = [Route("/compare", compare)]
