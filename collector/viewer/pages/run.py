"""The page of a run, and the JSON that keeps it up to date while the run is collected."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from collector.viewer.context import find_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.live_runs import iso_timestamp, profile_flags
from collector.viewer.marts.overview import read_overview, score_label
from collector.viewer.render import page
from collector.viewer.transcripts.run_files import RunTranscripts


def run(request: Request) -> Response:
    """Show the scores, charts and problems of a run."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.open_reader() as reader:
        row = find_run(request, reader)
        overview = read_overview(reader, row, request.query_params.get("agent"), links)
    sources = viewer.live_runs.check_sources(row)
    viewer.live_runs.refresh(row, sources)
    # so that the index is ready when the user opens a rollout
    RunTranscripts(viewer.transcripts, row).start()
    return page(
        "run.html",
        title=row["run_id"],
        crumbs=[(row["run_id"], None)],
        overview=overview,
        sources=sources,
        problem=viewer.live_runs.problem(row["run_id"]),
        version_of_run=iso_timestamp(row["profiled_at"]),
        again=profile_flags(row),
        score_label=score_label,
        links=links,
    )


def live(request: Request) -> Response:
    """Return when the run was profiled and whether it is still collected, as JSON."""
    viewer = viewer_of(request)
    with viewer.store.open_reader() as reader:
        row = find_run(request, reader)
    sources = viewer.live_runs.check_sources(row)
    viewer.live_runs.refresh(row, sources)
    return JSONResponse(
        {
            "profiled_at": iso_timestamp(row["profiled_at"]),
            "is_running": sources.is_running,
            "completed": row["completed_rollout_count"],
            "expected": row["expected_rollout_count"],
        }
    )


ROUTES = [Route("/run", run), Route("/live", live)]
