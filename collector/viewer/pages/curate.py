"""The Curate page: the rules of a recipe, what they choose of a run, and the recipe to download."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.curating import recipe as recipes
from collector.curating.run_checks import check_agent, check_slices
from collector.curating.wording import FATES, REASONS, figure_rows, selection_warnings
from collector.curating.worker import SelectionRequest
from collector.errors import UsageError
from collector.slice_order import sort_slices
from collector.terminal import relative_path
from collector.viewer.background import WaitingError
from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts.curation import candidates_query, listed_query
from collector.viewer.marts.overview import read_agents
from collector.viewer.marts.slices import read_slice_fields
from collector.viewer.marts.store import Reader
from collector.viewer.recipe_form import (
    DEFAULTS,
    FILE_NAME,
    USUAL_RULES,
    WEIGHTS,
    RecipeForm,
    read_form,
)
from collector.viewer.render import page, problem_page
from collector.viewer.selections import SelectionKey, Selections
from collector.warehouse.sql import Row

WAREHOUSE = Path("warehouse.duckdb")
SLICES = 50
OWN_PARAMETERS = {"run", "agent", "drop", *DEFAULTS}


@dataclass(frozen=True)
class Curated:
    """A run, its agents and slices, and the recipe of the address."""

    run: Row
    agents: list[str]
    agent: str | None
    slice_fields: list[str]
    form: RecipeForm
    problem: str
    """Why the recipe does not fit the run, or is not a recipe."""

    @property
    def key(self) -> SelectionKey:
        """Return what the selection depends on."""
        run = self.run
        request = SelectionRequest(run["run_id"], run["task_count"], self.agent, self.form.text)
        return SelectionKey(request, run["profiled_at"])


@dataclass(frozen=True)
class ReasonRow:
    """How many tasks have the same fate for the same reason."""

    fate: str
    reason: str
    task_count: int
    href: str
    """The address of the query that shows these tasks."""
    listed_count: int


@dataclass(frozen=True)
class SliceRow:
    """The tasks of a slice before and after."""

    field: str
    value: str
    before: Row
    after: Row | None


def show_curate(request: Request) -> Response:
    """Show the rules and what they choose; status 400 if the address is not a valid recipe."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        curated = read_curated(request, reader)
    run_id = curated.run["run_id"]
    answer = None if curated.problem else _read_answer(viewer.selections, curated)
    return page(
        "curate.html",
        status=400 if curated.problem else 200,
        title=f"Curate {run_id}",
        crumbs=[(run_id, links.run(run_id)), ("Curate", None)],
        curated=curated,
        run=curated.run,
        form=curated.form,
        sources=viewer.live_runs.check_sources(curated.run),
        answer=answer,
        found=_page_data(curated, answer, links) if answer else {},
        command=_command(curated, viewer.store.path),
        query=candidates_query(run_id),
        download=links.to(f"/curate/{FILE_NAME}", **_parameters(request)),
        usual=links.curate(run_id, agent=curated.agent, **USUAL_RULES),
        recipes=recipes,
        defaults=DEFAULTS,
        weights=WEIGHTS,
        links=links,
    )


def send_recipe(request: Request) -> Response:
    """Send the recipe of the address as a file."""
    form = read_form(request.query_params)
    if form.problem:
        return problem_page("There is no recipe to download", form.problem, status=400)
    headers = {"Content-Disposition": f'attachment; filename="{FILE_NAME}"'}
    return Response(form.text, media_type="application/yaml; charset=utf-8", headers=headers)


def read_curated(request: Request, reader: Reader) -> Curated:
    """Read the run that the address names, and check that its recipe fits."""
    run = find_run(request, reader)
    agents = read_agents(reader, run["run_id"])
    agent = request.query_params.get("agent") or None
    if agent is None and run["is_fan_out"]:
        agent = next(iter(agents), None)
    form = read_form(request.query_params)
    problem = form.problem
    if form.recipe:
        try:
            with contextlib.closing(reader.cursor()) as cursor:
                check_agent(cursor, run["run_id"], agent)
                check_slices(cursor, run["run_id"], form.recipe)
        except UsageError as error:
            problem = str(error)
    slice_fields = sorted(field.name for field in read_slice_fields(reader, run["run_id"]))
    return Curated(run, agents, agent, slice_fields, form, problem)


def _read_answer(selections: Selections, curated: Curated) -> dict[str, Any] | None:
    """Return what the recipe chooses, or None if that takes longer than a page waits."""
    try:
        return selections.read(curated.key)
    except WaitingError:
        return None


def _page_data(curated: Curated, answer: dict[str, Any], links: Links) -> dict[str, Any]:
    recipe, run = curated.form.recipe, curated.run
    assert recipe
    shaped, threshold = answer["shaped_task_count"], run["pass_threshold"]
    histograms, slices = answer["histograms"], _slices(answer["figures"])
    return {
        "reasons": _reasons(run["run_id"], answer, links),
        "figures": list(figure_rows(answer["figures"])),
        "slices": slices[:SLICES],
        "slice_count": len(slices),
        "tenths": list(enumerate(zip(histograms["before"], histograms["after"], strict=True))),
        "most": max([*histograms["before"], 1]),
        "warnings": list(selection_warnings(recipe, answer["counts"], shaped, threshold)),
        "wording": REASONS,
        "fates": FATES,
    }


def _reasons(run_id: str, answer: dict[str, Any], links: Links) -> list[ReasonRow]:
    """Return the reasons: first those of the chosen tasks, then the others, most tasks first."""
    lists = {(row["fate"], row["reason"]): row["task_indices"] for row in answer["tasks"]}
    return [
        ReasonRow(
            fate,
            reason,
            count,
            links.sql(listed_query(run_id, lists[fate, reason]).text),
            len(lists[fate, reason]),
        )
        for fate in FATES
        for reason, count in answer["counts"][fate].items()
    ]


def _slices(figures: list[Row]) -> list[SliceRow]:
    after = {
        (row["slice_by"], row["slice_value"]): row for row in figures if row["stage"] == "after"
    }
    before = [row for row in figures if row["stage"] == "before" and row["slice_by"] != "all"]
    return [
        SliceRow(
            row["slice_by"],
            row["slice_value"],
            row,
            after.get((row["slice_by"], row["slice_value"])),
        )
        for row in sort_slices(before)
    ]


def _command(curated: Curated, warehouse: Path) -> list[str]:
    """Return the words of the command that curates the run by the recipe, without its output."""
    words = ["spotter", "curate", curated.run["run_id"], "--recipe", FILE_NAME]
    if curated.agent:
        words += ["--agent", curated.agent]
    if warehouse != WAREHOUSE.absolute():
        words += ["-w", relative_path(warehouse)]
    return words


def _parameters(request: Request) -> dict[str, Any]:
    """Return the parameters of the address that this page knows."""
    known = request.query_params
    return {name: known.getlist(name) for name in known if name in OWN_PARAMETERS}


ROUTES = [Route("/curate", show_curate), Route(f"/curate/{FILE_NAME}", send_recipe)]
