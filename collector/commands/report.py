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
        typer.Argument(show_default=False, help="The run; optional if the warehouse has only one."),
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            readable=False,
            help="The file to write; it is written completely or not at all.",
        ),
    ] = Path("report.html"),
    warehouse: Warehouse = Path("warehouse.duckdb"),
    agent: Annotated[
        str | None, typer.Option(show_default="the first", help="The agent to show.")
    ] = None,
    rollouts: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many rollouts to include: first those with findings (other than repeated"
            " responses), then failures of learnable tasks, one per task.",
        ),
    ] = 20,
    rollout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK:ROLLOUT", help="An additional rollout to include. May be repeated."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was written as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Write a run to one self-contained HTML file.

    The file has the page of the run, its tasks and some rollouts. It opens from disk, without a
    server, and loads nothing.

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
