"""The comparison of two runs: the verdict, the tasks that explain it, slices and efforts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from collector.comparing.compare import ComparisonSettings, Pair
from collector.comparing.run_settings import SettingDifference
from collector.comparing.wording import (
    agreement_sentence,
    figure,
    interval_text,
    p_text,
    task_notes,
    task_sentence,
)
from collector.viewer.comparisons import ComparingError, ComparisonKey
from collector.viewer.context import find_run, parse_index, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import comparison as marts
from collector.viewer.marts import comparison_tasks
from collector.viewer.marts.charts import Chart, Series
from collector.viewer.marts.comparison import RunComparison
from collector.viewer.marts.comparison_settings import (
    parse_settings,
    read_differences,
    read_stored_settings,
)
from collector.viewer.marts.comparison_tasks import RolloutPair
from collector.viewer.marts.intervals import difference_rows, slice_rows
from collector.viewer.marts.listing import Listing
from collector.viewer.marts.overview import Overview, read_overview
from collector.viewer.marts.store import Query, Reader
from collector.viewer.pages.task import PageTranscripts
from collector.viewer.render import page, problem_page
from collector.viewer.transcripts.comparison import Comparison, compare_rollouts
from collector.viewer.transcripts.files import Transcripts
from collector.warehouse.sql import Row

LETTERS = ("A", "B")
KEPT = ("agent_a", "agent_b", "margin", "fixed", "anyway")


@dataclass(frozen=True)
class Compared:
    """What the warehouse says about two runs before they are compared."""

    sides: tuple[Overview, Overview]
    differences: list[SettingDifference]
    stored: ComparisonSettings | None

    @property
    def values(self) -> Row:
        """Return the values of the queries on the comparison marts."""
        first, second = self.sides
        return {
            "first": first.run["run_id"],
            "first_agent": first.agent,
            "second": second.run["run_id"],
            "second_agent": second.agent,
        }

    @property
    def pair(self) -> Pair:
        """Return the runs and agents to compare."""
        values = self.values
        agents = (values["first_agent"], values["second_agent"])
        return Pair(values["first"], values["second"], *agents)

    def key(self, settings: ComparisonSettings) -> ComparisonKey:
        """Return what a comparison of the runs depends on."""
        first, second = (side.run["profiled_at"] for side in self.sides)
        return ComparisonKey(self.pair, settings, (first, second))


@dataclass(frozen=True)
class PairView:
    """Two rollouts of a task side by side, or why that is impossible."""

    pair: RolloutPair
    comparison: Comparison | None = None
    trouble: str = ""
    is_waiting: bool = False


def compare(request: Request) -> Response:
    """Show whether a run is better than another one."""
    selected = request.query_params.getlist("side")
    if selected:  # the form of the page of runs
        return RedirectResponse(_comparison_address(selected), status_code=303)
    viewer, parameters = viewer_of(request), request.query_params
    search = parameters.get("q", "").strip()
    with viewer.store.open_reader() as reader:
        runs = find_run(request, reader, "a"), find_run(request, reader, "b")
        agents = parameters.get("agent_a"), parameters.get("agent_b")
        compared = read_compared(reader, runs, agents, Links())
        found = comparison_tasks.find_tasks(reader, compared.values, search)
    settings = _settings_of(request, compared)
    values = compared.values
    keep = {"a": values["first"], "b": values["second"]}
    keep |= {name: parameters[name] for name in KEPT if parameters.get(name)}
    path = functools.partial(Links().to, "/compare", **keep)
    try:
        with viewer.comparisons.open_reader(compared.key(settings)) as reader:
            comparison = marts.read_comparison(reader, values, path)
            if parameters.get("anyway") == "yes":
                comparison = comparison.without_obstacles()
            listing = comparison_tasks.read_tasks(reader, parameters, values, found=found)
            task = _read_task(request, reader, values)
    except ComparingError as error:
        return problem_page("Comparing the runs", str(error), status=200, reload_seconds=2)
    with viewer.store.open_reader() as reader:
        comparison_tasks.add_prompts(reader, [*listing.rows, *([task] if task else [])], values)
        pair = comparison_tasks.read_pair(reader, task, values) if task else None
    view = read_view(viewer.transcripts, compared, pair) if pair else None
    return page(
        "compare.html",
        title="Compare runs",
        crumbs=[("Compare", None)],
        listing=listing,
        keep=keep,
        path=path,
        links=Links(),
        view=view,
        pair_href=functools.partial(_pair_address, path, listing),
        reload_seconds=2 if view and view.is_waiting else 0,
        **page_data(compared, comparison, settings),
    )


def read_compared(
    reader: Reader, runs: tuple[Row, Row], agents: tuple[str | None, str | None], links: Links
) -> Compared:
    """Read what the warehouse says about two runs and their agents."""
    first, second = (
        read_overview(reader, run, agent, links) for run, agent in zip(runs, agents, strict=True)
    )
    known = Compared((first, second), [], None)
    return replace(
        known,
        differences=read_differences(reader, known.values, *runs),
        stored=read_stored_settings(reader, known.values),
    )


def page_data(
    compared: Compared, comparison: RunComparison, settings: ComparisonSettings
) -> dict[str, Any]:
    """Return what the page and the report show of a comparison."""
    main = comparison.main
    is_stored = settings == compared.stored
    scatter = comparison.scatter
    if not is_stored:  # users would find no rows
        scatter = replace(scatter, query=None)
    return {
        "sides": compared.sides,
        "differences": compared.differences,
        "comparison": comparison,
        "main": main,
        "sentence": task_sentence(main, *LETTERS) if main else "",
        "notes": task_notes(main, *LETTERS) if main else [],
        "agreement": agreement_sentence(comparison.verdicts, *LETTERS)
        if comparison.verdicts
        else "",
        "intervals": difference_rows(main) if main else None,
        "slices": slice_rows(comparison.slices[: marts.SLICES]),
        "charts": [scatter, *_pair_charts(*compared.sides)],
        "labels": {**marts.SCORE_LABELS, **marts.MEASURE_LABELS},
        "signed": functools.partial(figure, is_signed=True),
        "p_text": p_text,
        "interval_text": interval_text,
        "queries": marts,
        "settings": settings,
        "is_stored": is_stored,
        "is_same": compared.values["first"] == compared.values["second"]
        and compared.values["first_agent"] == compared.values["second_agent"],
    }


def read_view(transcripts: Transcripts, compared: Compared, pair: RolloutPair) -> PairView:
    """Read two rollouts of a task and compare them."""
    if pair.first is None or pair.second is None:
        return PairView(pair, trouble="one of the runs has no rollout of this task")
    sources = [PageTranscripts(transcripts, side.run) for side in compared.sides]
    first, second = (
        source.read(row["task_index"], row["rollout_index"])
        for source, row in zip(sources, (pair.first, pair.second), strict=True)
    )
    if first and second:
        return PairView(pair, compare_rollouts(first.row, second.row))
    trouble = next((source.trouble for source in sources if source.trouble), "")
    return PairView(pair, trouble=trouble, is_waiting=any(one.is_waiting for one in sources))


def _settings_of(request: Request, compared: Compared) -> ComparisonSettings:
    try:
        return parse_settings(request.query_params, compared.stored)
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


def _read_task(request: Request, reader: Reader, values: Row) -> Row | None:
    """Return the task whose rollouts are shown side by side, or None if the address names none."""
    if not request.query_params.get("pair"):
        return None
    index = parse_index(request, "pair")
    task = reader.row(Query(comparison_tasks.TASK, {**values, "task": index}))
    if task is None or task["task_index"] is None:
        raise HTTPException(404, f"Task {index} of A is not a task of both runs.")
    return task


def _pair_address(path: Callable[..., str], listing: Listing, row: Row) -> str:
    """Return the address that shows rollouts of a task side by side."""
    return f"{path(**listing.state.values(), pair=row['baseline_task_index'])}#pair"


def _comparison_address(sides: list[str]) -> str:
    """Return the address that compares two sides, each a run and an agent, or raise a 400."""
    if len(sides) != 2:
        raise HTTPException(400, f"Select two runs to compare. You selected {len(sides)}.")
    (first, _, agent_a), (second, _, agent_b) = (side.partition("&") for side in sides)
    agents = {"agent_a": unquote(agent_a), "agent_b": unquote(agent_b)}
    return Links().compare(unquote(first), unquote(second), **agents)


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
