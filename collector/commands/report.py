"""`spotter report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY

if TYPE_CHECKING:
    from collector.comparing.compare import Pair


def report(
    run: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="The run, or its rollouts file; optional if the warehouse has only one run.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", show_default=False, help="A second run to compare with the first."
        ),
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
    agent_b: Annotated[
        str | None,
        typer.Option(show_default="as `--agent`", help="The agent of the second run."),
    ] = None,
    rollouts: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many rollouts to include: first those with findings (other than repeated"
            " responses), then failures of learnable tasks, one per task. For two runs: a rollout"
            " of each for the tasks that changed most surely.",
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
    """Write a run, or the comparison of two runs, to one self-contained HTML file.

    The file has the page of the run, its tasks and some rollouts; of two runs, the page that
    compares them. It opens from disk, without a server, and loads nothing.

    \b
    spotter report demo -o report.html
    spotter report before after -o comparison.html
    spotter report demo --rollouts 0 --rollout 12:3 --rollout 12:0
    """
    from collector.terminal import counted_noun, label

    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--output {output}: the name must end in .html or .htm")
    if run is not None and other is not None:
        if rollout:
            raise UsageError("--rollout is for the report on one run")
        agents = (agent, agent_b or agent)
        pair, count = _write_comparison(warehouse, (run, other), agents, rollouts, output)
        written = {"run_id": pair.candidate_run_id, "baseline_run_id": pair.baseline_run_id}
        name = f"{label(pair.candidate_run_id)} compared with {label(pair.baseline_run_id)},"
    else:
        if agent_b:
            raise UsageError("--agent-b needs a second run")
        run_id, count = _write_run(warehouse, run, agent, (rollouts, tuple(rollout or ())), output)
        written = {"run_id": run_id}
        name = label(run_id)
    size = output.stat().st_size
    if json:
        print_json({**written, "output": str(output), "rollouts": count, "bytes": size})
    else:
        typer.echo(f"{output}: {name} with {counted_noun(count, 'rollout')}, {size / 1e6:.1f} MB")


def _write_run(
    warehouse: Path,
    run: str | None,
    agent: str | None,
    rollouts: tuple[int, tuple[str, ...]],
    output: Path,
) -> tuple[str, int]:
    from collector.viewer.report import ReportRequest, write_report

    return write_report(warehouse, ReportRequest(run, agent, *rollouts), output)


def _write_comparison(
    warehouse: Path,
    runs: tuple[str, str],
    agents: tuple[str | None, str | None],
    rollouts: int,
    output: Path,
) -> tuple[Pair, int]:
    from collector.viewer.comparison_report import ComparisonReportRequest, write_comparison_report

    request = ComparisonReportRequest(runs, agents, rollouts // 2)
    return write_comparison_report(warehouse, request, output)
