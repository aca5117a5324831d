"""The page of all runs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import ListingSource
from collector.viewer.render import page

SOURCE = ListingSource(
    columns=(
        ListingColumn("run_id", "Run", "text"),
        ListingColumn("model_names", "Model", "text"),
        ListingColumn("agent_name", "Agent", "text"),
        ListingColumn("completion_pct", "Completed", hint="<100"),
        ListingColumn("masked_rollout_count", "Masked", hint=">0"),
        ListingColumn("task_count", "Tasks", hint=">10"),
        ListingColumn("reward_mean", "Mean reward"),
        ListingColumn("pass_rate", "pass@1"),
        ListingColumn("pass_at_k", "pass@k"),
        ListingColumn("total_tokens_mean", "Tokens per rollout", hint=">1000"),
        ListingColumn("failed_attempt_count", "Failed attempts", hint=">0"),
        ListingColumn("collection_ended_at", "Collected", "moment", hint="2026-01"),
        ListingColumn("tags", "Tags", "text", hint="name=value"),
    ),
    rows=queries.RUNS,
    key="run_id, agent_name",
    search="concat_ws(' ', run_id, model_names, agent_name, tags, rollouts_path)",
    default_sort="-collection_ended_at",
)


def runs(request: Request) -> Response:
    """Show the table of runs, with their scores and intervals."""
    viewer = viewer_of(request)
    with viewer.store.open_reader() as reader:
        listing = SOURCE.read_page(reader, SOURCE.state(request.query_params), {})
    running = {
        row["run_id"] for row in listing.rows if viewer.live_runs.check_sources(row).is_running
    }
    return page(
        "runs.html",
        title="Runs",
        listing=listing,
        running=running,
        warehouse=str(viewer.store.path),
        path=Links().runs,
    )


ROUTES = [Route("/", runs)]
