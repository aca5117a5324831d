"""The page of all runs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.filters import Column
from collector.viewer.marts.listing import Source
from collector.viewer.render import page

SOURCE = Source(
    columns=(
        Column("run_id", "Run", "text"),
        Column("agent_name", "Agent", "text"),
        Column("completion_pct", "Completed", hint="<100"),
        Column("masked_rollout_count", "Masked", hint=">0"),
        Column("task_count", "Tasks", hint=">10"),
        Column("reward", "Mean reward"),
        Column("pass_rate", "pass@1"),
        Column("pass_at_k", "pass@k"),
        Column("total_tokens", "Tokens per rollout", hint=">1000"),
        Column("failed_attempt_count", "Failed attempts", hint=">0"),
        Column("profiled_at", "Profiled", "moment", hint="2026-01"),
    ),
    rows=queries.RUNS,
    key="run_id, agent_name",
    search="concat_ws(' ', run_id, agent_name, rollouts_path)",
    default_sort="-profiled_at",
)


def runs(request: Request) -> Response:
    """Show every run, with what it reached and how sure that is."""
    viewer = viewer_of(request)
    with viewer.store.reading() as reader:
        listing = SOURCE.listing(reader, SOURCE.state(request.query_params), {})
    running = {row["run_id"] for row in listing.rows if viewer.live.look_at(row).is_running}
    return page(
        "runs.html",
        title="Runs",
        listing=listing,
        running=running,
        warehouse=str(viewer.store.path),
        path=Links().runs,
    )


ROUTES = [Route("/", runs)]
