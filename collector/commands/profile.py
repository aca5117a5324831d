"""`spotter profile`, also `ng_reward_profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Warehouse, print_json
from collector.commands.uploads import UPLOAD_ALIASES, Trackers, ready_trackers
from collector.commands.uploads import upload as upload_to
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY, Named
from collector.terminal import Progress, say, show

if TYPE_CHECKING:
    from collector.profiling.profile import Outcome
    from collector.profiling.statistics import PriceList
    from collector.uploading.content import Upload

FOREIGN = UPLOAD_ALIASES


def profile(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="Rollouts files, or folders that hold some; other artifacts are passed over.",
        ),
    ] = None,
    *,
    rollouts: Annotated[
        Path | None,
        typer.Option(readable=False, help="The rollouts file of one run."),
        Named("rollouts_jsonl_fpath"),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Its materialized inputs.  [default: <stem>_materialized_inputs.jsonl]",
        ),
        Named("materialized_inputs_jsonl_fpath"),
    ] = None,
    allow_partial: Annotated[
        bool,
        typer.Option("--allow-partial", help="Profile what is there if rollouts are missing."),
        Named("allow_partial_rollouts"),
    ] = False,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    output_dir: Annotated[
        Path | None,
        typer.Option(help="Where the output files go.  [default: beside the rollouts]"),
    ] = None,
    run_id: Annotated[
        str | None, typer.Option(help="Name of the run.  [default: <stem>-<hash of the path>]")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Memory for DuckDB, like 4GB.  [default: half of the machine's]"),
    ] = None,
    pass_threshold: Annotated[
        float, typer.Option(help="A rollout passes if its reward is at least this.")
    ] = 1.0,
    answer_field: Annotated[
        str | None,
        typer.Option(
            help="The rollouts' field with the answer, for votes.  [default: extracted_answer]"
        ),
    ] = None,
    slice_by: Annotated[
        list[str] | None,
        typer.Option(
            help="A field of the inputs or rollouts; scores are given for each of its values too."
            " May be repeated."
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="A YAML file with the price of a million tokens by model:"
            " my-model: {input: 0.5, output: 1.5}. Gives the cost of rollouts and passes.",
        ),
    ] = None,
    count_failure_classes_as_zero: Annotated[
        list[str] | None,
        typer.Option(
            help="Count missing rollouts whose last failure is of this class as a reward of 0, in a"
            " second mean beside the plain one. May be repeated.  [default: as it was collected]"
        ),
    ] = None,
    count_missing_rollouts_as_zero: Annotated[
        bool,
        typer.Option(
            "--count-missing-rollouts-as-zero",
            help="Count missing rollouts without any failure as a reward of 0, likewise.",
        ),
    ] = False,
    no_files: Annotated[
        bool, typer.Option("--no-files", help="Fill the warehouse only: write no output files.")
    ] = False,
    upload: Trackers = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Profile one or more runs: rewards and other metrics per task and per agent.

    Writes <stem>_reward_profiling.jsonl, <stem>_agent_metrics.json and
    <stem>_repeat_level_metrics.json as NeMo Gym does, and the marts of the warehouse. A run that
    was profiled before is replaced. Rollouts that the environment masked count for no statistic.

    \b
    spotter profile results/rollouts.jsonl
    spotter profile results/ --allow-partial
    spotter profile results/rollouts.jsonl --upload wandb --upload mlflow
    spotter profile +rollouts_jsonl_fpath=results/rollouts.jsonl ++allow_partial_rollouts=True
    """
    from collector import artifacts
    from collector.profiling import report
    from collector.profiling.profile import BrokenRunsError, Settings
    from collector.profiling.profile import profile as profile_runs
    from collector.profiling.statistics import Statistics, Zeros

    given = [*(paths or []), *([rollouts] if rollouts else [])]
    if not given:
        raise UsageError("which rollouts? Name a file or a folder: spotter profile results/")
    if no_files and output_dir:
        raise UsageError("--output-dir is where the output files go, and --no-files writes none")
    runs = artifacts.plan_runs(
        artifacts.find_rollouts(given), inputs=inputs, output_dir=output_dir, run_id=run_id
    )
    counted = tuple(count_failure_classes_as_zero or ())
    statistics = Statistics(
        pass_threshold,
        answer_field,
        tuple(slice_by or ()),
        zeros=Zeros(counted, count_missing_rollouts_as_zero)
        if counted or count_missing_rollouts_as_zero
        else None,
        prices=_prices(prices) if prices else None,
    )
    trackers = ready_trackers(upload)
    settings = Settings(
        warehouse.absolute(), allow_partial, memory_limit, statistics, is_published=not no_files
    )
    progress = Progress()
    try:
        outcome = profile_runs(runs, settings, listener=progress)
    except BrokenRunsError as error:
        if json:
            print_json(report.problems_as_data(error))
        raise
    finally:
        progress.clear()
    _tell(outcome, trackers, as_json=json)


def _prices(path: Path) -> PriceList:
    from collector.profiling.prices import read_prices

    return read_prices(path)


def _tell(outcome: Outcome, trackers: list[str], *, as_json: bool) -> None:
    from collector.profiling import report

    if not as_json:
        show(report.as_blocks(outcome))
    told = upload_to(
        trackers, lambda: _described(outcome), again="give the same command again with"
    )
    if as_json:
        print_json({**report.as_data(outcome), **told.data})
    elif told.text:
        typer.echo(told.text)
    for warning in report.warnings(outcome):
        say(f"warning: {warning}")
    if told.error:
        raise told.error


def _described(outcome: Outcome) -> list[Upload]:
    from collector.uploading.figures import profiled_uploads

    return profiled_uploads(outcome, on_wait=say)
