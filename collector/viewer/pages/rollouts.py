"""The table of a run's rollouts: those that are broken, among others."""

from __future__ import annotations

import functools

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.viewer.context import asked_run, viewer_of
from collector.viewer.links import Links
from collector.viewer.marts import queries
from collector.viewer.marts.filters import Column
from collector.viewer.marts.listing import Source, Texts
from collector.viewer.marts.overview import agents_apart
from collector.viewer.render import page

SOURCE = Source(
    columns=(
        Column("task_index", "Task", hint="12"),
        Column("rollout_index", "Rollout", hint="0"),
        Column("agent_name", "Agent", "choice"),
        Column("reward", "Reward", hint="<1"),
        Column("answer", "Answer", "text"),
        Column("input_tokens", "Input tokens", hint=">1000"),
        Column("output_tokens", "Output tokens", hint=">1000"),
        Column("finding_count", "Findings", hint=">0"),
        Column("is_output_empty", "Empty output", "flag"),
        Column("is_truncated", "Truncated", "flag"),
        Column("is_usage_missing", "No usage", "flag"),
        Column("is_response_repeated", "Repeated", "flag"),
        Column("is_verdict_inconsistent", "Inconsistent verdict", "flag"),
        Column("is_ground_truth_suspect", "Suspect ground truth", "flag"),
    ),
    rows=queries.ROLLOUT_ROWS,
    key="task_index, rollout_index",
    search="answer",
    marts=("rollout_health", "rollout_infos"),
    texts=Texts(queries.ANSWERS, "task_index, rollout_index", ("answer",)),
)


def rollouts(request: Request) -> Response:
    """Show rollouts one by one, with their findings."""
    viewer = viewer_of(request)
    links = Links()
    with viewer.store.reading() as reader:
        run = asked_run(request, reader)
        source = agents_apart(reader, run, SOURCE, request.query_params)
        listing = source.listing(reader, source.state(request.query_params), {"run": run["run_id"]})
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
