"""Writes the comparison of two runs as one HTML file, without a server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collector.artifacts import rollouts_files
from collector.comparing.compare import ComparisonSettings, Pair
from collector.comparing.worker import compare_into_file
from collector.errors import UsageError
from collector.temporary_files import temporary_folder
from collector.viewer.links import Links
from collector.viewer.live_runs import check_sources
from collector.viewer.marts import comparison_tasks
from collector.viewer.marts.comparison import RunComparison, read_comparison
from collector.viewer.marts.comparison_tasks import RolloutPair
from collector.viewer.marts.listing import Listing
from collector.viewer.marts.store import MEMORY_LIMIT, Query, Reader, Store
from collector.viewer.pages.compare import Compared, PairView, page_data, read_compared, read_view
from collector.viewer.render import render
from collector.viewer.report import TASKS, find_run, frame_data, write_html
from collector.viewer.text import without_folders
from collector.viewer.transcripts.files import Transcripts
from collector.viewer.transcripts.run_files import RunTranscripts
from collector.warehouse.queries import open_read_only
from collector.warehouse.scratch import log_defects
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class ComparisonReportRequest:
    """The runs to compare (ids or paths), their agents, and how many tasks to show side by side."""

    runs: tuple[str, str]
    agents: tuple[str | None, str | None]
    pair_count: int


@dataclass(frozen=True)
class Figures:
    """What the comparison marts say about two runs."""

    comparison: RunComparison
    listing: Listing
    tasks: list[Row]
    """The tasks to show side by side."""


class ComparisonReportLinks(Links):
    """Links inside the report: it has none of the viewer's pages."""

    is_report = True

    def to(self, path: str, **values: Any) -> str:  # noqa: ARG002 - the same for every page
        """Return an empty address, which templates show as plain text."""
        return ""


def write_comparison_report(
    warehouse: Path, request: ComparisonReportRequest, target: Path
) -> tuple[Pair, int]:
    """Write the report; return what was compared and the number of included rollouts."""
    with _open_warehouse(warehouse) as reader:
        compared = _read_compared(reader, request)
    settings = compared.stored or ComparisonSettings()
    figures = _compare(warehouse, compared, settings, request.pair_count)
    with _open_warehouse(warehouse) as reader:
        rows = [*figures.listing.rows, *figures.tasks]
        comparison_tasks.add_prompts(reader, rows, compared.values)
        pairs = [
            comparison_tasks.read_pair(reader, task, compared.values) for task in figures.tasks
        ]
    views = _read_views(warehouse.absolute().parent, compared, pairs)
    write_html(_render_page(compared, figures, settings, views), target)
    return compared.pair, sum(2 for view in views if view.comparison)


@contextlib.contextmanager
def _open_warehouse(path: Path) -> Iterator[Reader]:
    with (
        contextlib.closing(Store(path)) as store,
        log_defects("report"),
        store.open_reader() as reader,
    ):
        yield reader


def _read_compared(reader: Reader, request: ComparisonReportRequest) -> Compared:
    first, second = (find_run(reader, name) for name in request.runs)
    compared = read_compared(reader, (first, second), request.agents, ComparisonReportLinks())
    names = ("--agent", "--agent-b")
    for name, agent, side in zip(names, request.agents, compared.sides, strict=True):
        if agent and side.agent != agent:
            agents = ", ".join(side.agents)
            raise UsageError(f"{name} {agent}: the agents of {side.run['run_id']} are {agents}")
    return compared


def _compare(
    warehouse: Path, compared: Compared, settings: ComparisonSettings, pair_count: int
) -> Figures:
    """Compare the runs; the warehouse must be closed, because closing it twice loses its lock."""
    values = compared.values
    with temporary_folder() as folder:
        path = folder / "comparison.duckdb"
        with log_defects("report"):
            compare_into_file(warehouse, compared.pair, settings, path)
        connection = open_read_only(path, on_wait=lambda _: None, memory_limit=MEMORY_LIMIT)
        with contextlib.closing(connection):
            reader = Reader(connection)
            telling = Query(comparison_tasks.TELLING, {**values, "count": pair_count})
            return Figures(
                read_comparison(reader, values, lambda **_: ""),
                comparison_tasks.read_tasks(reader, {}, values, found={}, rows=TASKS),
                reader.rows(telling),
            )


def _read_views(folder: Path, compared: Compared, pairs: list[RolloutPair]) -> list[PairView]:
    transcripts = Transcripts(folder, lambda _: None)
    try:
        for side in compared.sides:
            if pairs and not check_sources(side.run).is_missing:
                RunTranscripts(transcripts, side.run).build()
        views = [read_view(transcripts, compared, pair) for pair in pairs]
        paths = [
            path for side in compared.sides for path in rollouts_files(side.run["rollouts_path"])
        ]
        return [replace(view, trouble=without_folders(view.trouble, *paths)) for view in views]
    finally:
        transcripts.close()


def _render_page(
    compared: Compared, figures: Figures, settings: ComparisonSettings, views: list[PairView]
) -> str:
    included = {view.pair.task["baseline_task_index"] for view in views}

    def pair_href(row: Row) -> str:
        index = row["baseline_task_index"]
        return f"#pair-{index}" if index in included else ""

    first, second = compared.pair.baseline_run_id, compared.pair.candidate_run_id
    return render(
        "comparison_report.html",
        title=f"{second} compared with {first}",
        links=ComparisonReportLinks(),
        path=lambda **_: "",
        pair_href=pair_href,
        listing=figures.listing,
        views=views,
        **page_data(compared, figures.comparison, settings),
        **frame_data(),
    )
