"""`spotter report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY


def report(
    run: Annotated[
        str | None,
        typer.Argument(show_default=False, help="The run; not needed if there is only one."),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", readable=False, help="The file to write.")
    ] = Path("report.html"),
    warehouse: Warehouse = Path("warehouse.duckdb"),
    agent: Annotated[
        str | None, typer.Option(help="The agent to show.  [default: the first]")
    ] = None,
    rollouts: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many rollouts to include: broken ones first, then failures, one a task.",
        ),
    ] = 20,
    rollout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK:ROLLOUT", help="A rollout to include besides those; may be repeated."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Write a run to one self-contained HTML file: its page, its tasks and some rollouts.

    The file opens from disk. It needs no server and loads nothing.

    \b
    spotter report demo -o report.html
    spotter report demo --rollouts 0 --rollout 12:3 --rollout 12:0
    """
    from collector.terminal import counted_noun, label
    from collector.viewer.report import ReportRequest, write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--output {output}: the name must end in .html or .htm")
    request = ReportRequest(run, agent, rollouts, tuple(rollout or ()))
    run_id, count = write_report(warehouse, request, output)
    size = output.stat().st_size
    if json:
        print_json({"run_id": run_id, "output": str(output), "rollouts": count, "bytes": size})
    else:
        rollouts_text = counted_noun(count, "rollout")
        typer.echo(f"{output}: {label(run_id)} with {rollouts_text}, {size / 1e6:.1f} MB")
