"""`spotter compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import (
    AllowPartial,
    Json,
    MemoryLimit,
    Warehouse,
    print_json,
    print_text,
)
from collector.errors import UsageError
from collector.terminal import Progress, say, show

if TYPE_CHECKING:
    from collector.comparing.gate import GateReport
    from collector.comparing.request import CompareRequest, ComparisonResult


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            show_default=False,
            help="Two or more runs: ids of runs in the warehouse, or rollouts files, which are"
            " profiled if the warehouse does not have them unchanged. The first is the baseline.",
        ),
    ],
    *,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    score: Annotated[
        str, typer.Option(help="What the verdict is about: `mean_reward` or `pass_rate`.")
    ] = "mean_reward",
    alpha: Annotated[
        float, typer.Option(help="The chance of a false `better` or `worse` to accept.")
    ] = 0.05,
    margin: Annotated[
        float | None,
        typer.Option(
            show_default="a hundredth of the reward's range",
            help="The smallest difference that matters. An interval within it means `equivalent`.",
        ),
    ] = None,
    fixed_suite: Annotated[
        bool,
        typer.Option(
            "--fixed-suite",
            help="Judge these tasks if they were run again, instead of tasks like these.",
        ),
    ] = False,
    cluster_by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="A field by which the runs are sliced; tasks with the same value share a source"
            " and count as one cluster.",
        ),
    ] = None,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Give a verdict even if the runs are not comparable."),
    ] = False,
    agent_a: Annotated[
        str | None,
        typer.Option(
            show_default="the agents that both runs have",
            help="The agent of the first run, if the runs have several or different ones.",
        ),
    ] = None,
    agent_b: Annotated[
        str | None,
        typer.Option(
            show_default="as `--agent-a`, if the run has it", help="The agent of the second run."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Say what the order of the runs means, such as `checkpoint`; adds which tasks were"
            " mastered, forgotten, stuck or newly learnable from the first run to the last.",
        ),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option(
            metavar="POLICY",
            readable=False,
            help="A YAML file with rules that the second run must meet. Exits with 0 if it passes,"
            " 1 if it fails, 5 if the data cannot tell.",
        ),
    ] = None,
    allow_partial: AllowPartial = False,
    memory_limit: MemoryLimit = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Also write JUnit XML: a test case per score, slice and rule.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="If the verdict is inconclusive, write how many rollouts each task needs, for"
            " `spotter collect --plan`: for the second run to FILE, for the first beside it.",
        ),
    ] = None,
    markdown: Annotated[
        bool,
        typer.Option("--markdown", help="Print Markdown, for a pull request."),
    ] = False,
    json: Json = False,
) -> None:
    """Compare runs: say whether one is better than the other, and how sure that is.

    Matches tasks by their content and compares them one by one. The verdict is better, worse,
    equivalent, inconclusive or not comparable. It exits with 0 whatever the verdict; with --gate,
    1 means that a rule failed, 5 that the data cannot tell.

    \b
    spotter compare before after
    spotter compare results/before.jsonl results/after.jsonl --score pass_rate
    spotter compare before after --plan plan.jsonl
    spotter compare step-100 step-200 step-300 --over checkpoint
    spotter compare before after --gate gate.yml --markdown > comment.md
    """
    from collector.comparing.compare import ComparisonSettings
    from collector.comparing.policy import read_policy
    from collector.comparing.request import CompareRequest

    if json and markdown:
        raise UsageError("--json and --markdown contradict each other: use only one")
    if gate and len(runs) != 2:
        raise UsageError("--gate needs exactly two runs: the baseline and the candidate")
    if plan:
        from collector.comparing.settling_plans import check_plan_path

        check_plan_path(plan)
    policy = read_policy(gate) if gate else None
    result = _compare(
        CompareRequest(
            names=tuple(runs),
            warehouse=warehouse.absolute(),
            settings=ComparisonSettings(
                alpha=alpha,
                margin=margin,
                cluster_by=cluster_by,
                is_fixed_suite=fixed_suite,
            ),
            score=score,
            ignores_obstacles=anyway,
            baseline_agent=agent_a,
            candidate_agent=agent_b,
            is_partial_allowed=allow_partial,
            memory_limit=memory_limit,
        )
    )
    report = None
    if policy:
        from collector.comparing.gate import judge

        report = judge(policy, result.comparisons)
    if junit:
        from collector.comparing.junit import write_junit

        write_junit(junit, result, report)
    _print(result, report, over, as_json=json, as_markdown=markdown)
    if plan:
        from collector.comparing.settling_plans import plan_blocks, write_settling_plans

        plans = write_settling_plans(plan, result)
        if not json and not markdown:
            show(plan_blocks(plans))
    if report and report.exit_code:
        raise typer.Exit(report.exit_code)


def _compare(request: CompareRequest) -> ComparisonResult:
    from collector.comparing.request import compare_runs
    from collector.profiling.doubts import warnings
    from collector.profiling.sources import RunListener

    progress = Progress()
    try:
        result = compare_runs(request, RunListener(progress=progress, say=progress.say))
    finally:
        progress.clear()
    for outcome in result.outcomes:
        for warning in warnings(outcome):
            say(f"warning: {warning}")
    return result


def _print(
    result: ComparisonResult,
    report: GateReport | None,
    over: str | None,
    *,
    as_json: bool,
    as_markdown: bool,
) -> None:
    if as_json:
        from collector.comparing.data import as_data

        gate = {"gate": report.as_data()} if report else {}
        print_json({**as_data(result, over), **gate})
    elif as_markdown:
        from collector.comparing.markdown import as_markdown as markdown_text

        print_text(markdown_text(result, report, over))
    else:
        from collector.comparing.report import as_blocks

        show(as_blocks(result, report, over))
