"""`spotter profile`, also `ng_reward_profile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import (
    Explain,
    Json,
    MemoryLimit,
    Verbose,
    Warehouse,
    parse_tags,
    print_json,
    with_explanation,
)
from collector.commands.uploads import UPLOAD_ALIASES, Trackers, ready_workers
from collector.commands.uploads import upload as upload_to
from collector.errors import UsageError
from collector.overrides import OverrideName
from collector.remote_paths import located_path
from collector.terminal import Progress, say, show

if TYPE_CHECKING:
    from collector.profiling.profile import Outcome, ProfileSettings
    from collector.profiling.statistics import PriceList
    from collector.spark.build import Batch
    from collector.uploading.content import Upload
    from collector.uploading.process import Worker

FOREIGN = UPLOAD_ALIASES


class Engine(StrEnum):
    """What builds the models."""

    DUCKDB = "duckdb"
    SPARK = "spark"


def profile(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="Rollouts files, or folders that contain them. Other artifacts, and MLflow's"
            " copies in `mlruns` and `mlartifacts`, are skipped. Also addresses, and patterns in"
            " quotes: `'results/*/rollouts.jsonl'`, `'s3://bucket/runs/*.jsonl'`.",
        ),
    ] = None,
    *,
    rollouts: Annotated[
        Path | None,
        typer.Option(readable=False, help="The rollouts file of one run."),
        OverrideName("rollouts_jsonl_fpath"),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            show_default="`<stem>_materialized_inputs.jsonl`",
            help="The materialized inputs of one run.",
        ),
        OverrideName("materialized_inputs_jsonl_fpath"),
    ] = None,
    allow_partial: Annotated[
        bool,
        typer.Option("--allow-partial", help="Profile the rollouts present if some are missing."),
        OverrideName("allow_partial_rollouts"),
    ] = False,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    output_dir: Annotated[
        Path | None,
        typer.Option(show_default="beside the rollouts", help="The folder for the output files."),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(
            show_default="`<folder>-<stem>`",
            help="The name of the run: up to 200 characters that can be shown. If another file has"
            " the default name, more folders are part of it.",
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A word of yours that tells the run apart, like `checkpoint=1200`. May be"
            " repeated. The run keeps the tags that it has.",
        ),
    ] = None,
    memory_limit: MemoryLimit = None,
    pass_threshold: Annotated[
        float, typer.Option(help="A rollout passes if its reward is at least this.")
    ] = 1.0,
    answer_field: Annotated[
        str | None,
        typer.Option(
            show_default="`extracted_answer`",
            help="The rollout field that holds the answer, for votes.",
        ),
    ] = None,
    slice_by: Annotated[
        list[str] | None,
        typer.Option(
            help="A field of the inputs or rollouts; adds scores for each of its values."
            " May be repeated."
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="A YAML file with prices per million tokens by model:"
            " `my-model: {input: 0.5, output: 1.5, cached_input: 0.1}`. Adds the cost per rollout"
            " and per pass.",
        ),
    ] = None,
    count_failure_classes_as_zero: Annotated[
        list[str] | None,
        typer.Option(
            show_default="as the run was collected",
            help="Count missing rollouts whose last failure has this class as a reward of 0, in a"
            " second mean beside the plain one. May be repeated.",
        ),
    ] = None,
    count_missing_rollouts_as_zero: Annotated[
        bool,
        typer.Option(
            "--count-missing-rollouts-as-zero",
            help="Count missing rollouts without a recorded failure as a reward of 0, in the same"
            " second mean.",
        ),
    ] = False,
    no_files: Annotated[
        bool,
        typer.Option("--no-files", help="Fill the warehouse only, and write no output files."),
    ] = False,
    shard: Annotated[
        bool,
        typer.Option(
            "--shard",
            help="The run is one of several shards: keep the rows that `spotter merge` joins. Not"
            " needed if the run was collected with `--shard`.",
        ),
    ] = False,
    engine: Annotated[
        Engine,
        typer.Option(
            help="What builds the models. Spark is for runs that are too large for one machine: see"
            " docs/scale.md."
        ),
    ] = Engine.DUCKDB,
    skip_broken: Annotated[
        bool,
        typer.Option(
            "--skip-broken",
            help="Profile the other runs if some are broken. Names the broken ones and exits with"
            " 1.",
        ),
    ] = False,
    verbose: Verbose = False,
    explain: Explain = False,
    upload: Trackers = None,
    json: Json = False,
) -> None:
    """Profile runs: rewards and metrics per task and agent.

    Writes <stem>_reward_profiling.jsonl, <stem>_agent_metrics.json and
    <stem>_repeat_level_metrics.json as NeMo Gym does, and the marts of the warehouse. A run that
    was profiled before is replaced. Masked rollouts are left out of all statistics.

    \b
    spotter profile results/rollouts.jsonl
    spotter profile results/ --allow-partial
    spotter profile 's3://bucket/runs/*.jsonl' --output-dir results/
    spotter profile results/ckpt-1200.jsonl --tag checkpoint=1200 --tag ablation=no-tools
    spotter profile results/rollouts.jsonl --upload wandb --upload mlflow
    spotter profile 's3a://bucket/runs/*.jsonl' --engine spark --output-dir results/
    spotter profile +rollouts_jsonl_fpath=results/rollouts.jsonl ++allow_partial_rollouts=True
    """
    from collector import artifacts
    from collector.profiling import report
    from collector.profiling.known_runs import known_runs, name_runs, profile_times
    from collector.profiling.profile import BrokenRunsError, ProfileSettings
    from collector.profiling.profile import profile as profile_runs
    from collector.profiling.statistics import Statistics, ZeroRules

    searched = [*(paths or []), *([rollouts] if rollouts else [])]
    if not searched:
        raise UsageError("name a rollouts file or a folder, like: spotter profile results/")
    if no_files and output_dir:
        raise UsageError("--output-dir and --no-files contradict each other: use only one")
    tags = parse_tags(tag or ())
    zero_classes = tuple(count_failure_classes_as_zero or ())
    statistics = Statistics(
        pass_threshold,
        answer_field,
        tuple(slice_by or ()),
        zeros=ZeroRules(zero_classes, count_missing_rollouts_as_zero)
        if zero_classes or count_missing_rollouts_as_zero
        else None,
        prices=_prices(prices) if prices else None,
    )
    settings = ProfileSettings(
        warehouse.absolute(),
        allow_partial,
        memory_limit,
        statistics,
        is_published=not no_files,
        skips_broken=skip_broken,
        are_shards=shard,
    )
    progress = Progress()
    build: Callable[[], Outcome]
    if engine is Engine.SPARK:
        batch = _spark_batch(searched, inputs, run_id, output_dir, tags)
        build = partial(_profile_on_spark, batch, settings, progress)
    else:
        known = known_runs(settings.warehouse, on_wait=lambda text: progress(0, 0, text))
        if run_id is not None and run_id not in profile_times(known):
            artifacts.check_run_name(run_id, "--run-id")
        found = artifacts.find_rollouts(searched)
        planned = artifacts.plan_runs(
            found,
            inputs=inputs,
            output_dir=output_dir,
            run_id=run_id,
            names=name_runs(found, known),
        )
        tagged = [replace(run, tags=tuple(tags.items())) for run in planned]
        build = partial(profile_runs, tagged, settings, listener=progress)
    with ready_workers(upload) as workers:
        try:
            outcome = build()
        except BrokenRunsError as error:
            if json:
                print_json(report.problems_as_data(error.problems))
            raise
        finally:
            progress.clear()
        _report(outcome, workers, as_json=json, is_verbose=verbose, is_explained=explain)
    if not no_files and not all(run.has_local_outputs for run in outcome.runs):
        _say_where_files_are(output_dir, engine)
    if outcome.broken:
        count = len(outcome.runs) + len(outcome.broken)
        raise BrokenRunsError(outcome.broken, run_count=count, are_skipped=True)


def _say_where_files_are(output_dir: Path | None, engine: Engine) -> None:
    if engine is Engine.SPARK and output_dir:
        say(f"Spark wrote each output file as a folder of part files in {located_path(output_dir)}")
    else:
        say("object stores are only read: --output-dir names a local folder for the output files")


def _spark_batch(
    paths: list[Path],
    inputs: Path | None,
    run_id: str | None,
    output_dir: Path | None,
    tags: Mapping[str, str],
) -> Batch:
    from collector.artifacts import check_run_name
    from collector.spark.build import Batch
    from collector.spark.profile import rollouts_pattern

    if run_id is not None:
        check_run_name(run_id, "--run-id")
    given = rollouts_pattern([inputs]) if inputs else None
    folder = located_path(output_dir).absolute() if output_dir else None
    return Batch(rollouts_pattern(paths), given, run_id, folder, tags)


def _profile_on_spark(batch: Batch, settings: ProfileSettings, progress: Progress) -> Outcome:
    from collector.spark.profile import profile_on_spark

    return profile_on_spark(batch, settings, listener=progress)


def _prices(path: Path) -> PriceList:
    from collector.profiling.prices import read_prices

    return read_prices(path)


def _report(
    outcome: Outcome,
    workers: list[Worker],
    *,
    as_json: bool,
    is_verbose: bool,
    is_explained: bool,
) -> None:
    from collector.profiling import report
    from collector.profiling.doubts import warnings

    is_short = report.is_short(outcome, is_verbose=is_verbose)
    if not as_json:
        blocks = report.as_blocks(outcome, is_verbose=is_verbose)
        show(with_explanation(blocks) if is_explained else blocks)
    uploads = upload_to(
        workers, lambda: _uploads(outcome), again="give the same command again with"
    )
    if as_json:
        errors = report.problems_as_data(outcome.broken) if outcome.broken else {}
        print_json({**report.as_data(outcome), **uploads.data, **errors})
    elif uploads.text:
        typer.echo(uploads.text)
    for warning in warnings(outcome, is_short=is_short):
        say(f"warning: {warning}")
    if uploads.error:
        raise uploads.error


def _uploads(outcome: Outcome) -> list[Upload]:
    from collector.uploading.figures import profile_uploads

    return profile_uploads(outcome, on_wait=say)
