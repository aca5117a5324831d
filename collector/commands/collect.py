"""`spotter collect`, also `ng_collect_rollouts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.collect_served import ServedConfigs, collect_from_running, collect_served
from collector.commands.collection_problem import collection_problem
from collector.commands.common import UNUSED, Configs, Json, Set, print_json, print_text
from collector.commands.uploads import UPLOAD_ALIASES, Trackers, ready_workers
from collector.commands.uploads import upload as upload_to
from collector.errors import ServerError, UsageError
from collector.overrides import FLAG_ONLY, WITH_SERVE, Override
from collector.terminal import say, show

if TYPE_CHECKING:
    from collector.collection.collected import Collected
    from collector.collection.settings import CollectOptions
    from collector.uploading.content import Upload
    from collector.uploading.process import Worker

FOREIGN = {
    "max_resident_rollout_tasks": Override(
        "", unused="rows are drawn as there is room; num_samples_in_parallel is the limit"
    ),
    "retain_results_in_memory": Override("", unused="results are never kept in memory"),
    "route_failures_to_sidecar": Override("", unused="failures always go to the failures file"),
    "allow_unsupported_pairing": Override("", unused="pairings are not checked"),
    "rollout_collection_driver": Override(
        "", refused="it names code of NeMo Gym that collects in its own way"
    ),
    "retry_invalid_judge_responses": Override(
        "", refused="it would move rollouts out of the rollouts file"
    ),
    "skills": Override("", is_map=True, refused="only NeMo Gym's collector sends skills"),
    **UNUSED,
    **UPLOAD_ALIASES,
}
"""Settings of NeMo Gym's collector that have no effect here, or are refused."""

GYM_FLAGS = {
    "--agent": "agent_name",
    "--concurrency": "num_samples_in_parallel",
    **{
        f"--{name.replace('_', '-')}": f"responses_create_params.{name}"
        for name in ("temperature", "top_p", "max_output_tokens")
    },
}
"""Flags of `gym eval run` that have other names here, and the keys of their overrides."""


def collect(
    settings: CollectOptions,
    *,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Start the servers of `--config`, collect their datasets, and stop them.",
        ),
        FLAG_ONLY,
    ] = False,
    config: Annotated[Configs, WITH_SERVE] = None,
    config_settings: Annotated[Set, WITH_SERVE] = None,
    split: Annotated[
        str | None,
        typer.Option(
            show_default="train",
            help="With `--serve`, the datasets to collect: `train`, `validation` or `benchmark`."
            " Their rows are written to `<stem>_tasks.jsonl`.",
        ),
        WITH_SERVE,
    ] = None,
    reuse_existing_data_preparation: Annotated[
        bool,
        typer.Option(
            "--reuse-existing-data-preparation",
            help="With `--serve`, reuse the `<stem>_tasks.jsonl` of an earlier call, if it comes"
            " from the same datasets and split.",
        ),
        WITH_SERVE,
    ] = False,
    upload: Trackers = None,
    json: Json = False,
) -> None:
    """Collect repeated rollouts from agent servers.

    Writes <output>.jsonl line by line, and beside it the materialized inputs, failed attempts, a
    record of the run and the agents' own metrics. Exits with 3 if rollouts are missing in the end,
    unless the time budget, --dispatch-budget-s, is the only reason. NeMo Gym's flags --agent,
    --concurrency, --temperature, --top-p and --max-output-tokens work too.

    \b
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 8 --resume
    spotter collect --plan plan.jsonl -o results/rollouts.jsonl --resume
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 32 --until decided:0.95
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4 --upload wandb
    spotter collect +agent_name=my_agent +input_jsonl_fpath=tasks.jsonl \\
        +output_jsonl_fpath=results/rollouts.jsonl +num_repeats=4 +num_samples_in_parallel=10 \\
        '+responses_create_params={temperature: 0.7}'
    spotter collect --serve -o results/rollouts.jsonl --split validation \\
        -c resources_servers/workplace_assistant/configs/workplace_assistant.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    """
    with ready_workers(upload) as workers:
        pass  # a collection may take hours: no idle processes until the upload
    if settings.plan and (split or reuse_existing_data_preparation):
        raise UsageError(
            "--split and --reuse-existing-data-preparation choose tasks, and --plan does so too"
        )
    if serve:
        served = ServedConfigs(
            config or [],
            config_settings or [],
            split or "train",
            reuse=reuse_existing_data_preparation,
        )
        result = collect_served(settings, served)
    elif settings.input_jsonl_fpath is None and settings.plan is None:
        raise UsageError("which tasks? Name a task file with --input, or configs with --serve")
    elif config or config_settings or split or reuse_existing_data_preparation:
        raise UsageError(
            "--config, --set, --split and --reuse-existing-data-preparation are for --serve"
        )
    else:
        result = collect_from_running(settings, settings.input_jsonl_fpath)
    _report(result, workers, as_json=json, require_complete=settings.require_complete)


def _report(
    result: Collected, workers: list[Worker], *, as_json: bool, require_complete: bool
) -> None:
    from collector.collection import report

    if not as_json:
        show(report.as_blocks(result))
    again = report.profile_command(result)
    told = upload_to(workers, lambda: _describe_upload(result), again=again)
    if as_json:
        print_json({**report.as_data(result), **told.data})
    elif told.text:
        print_text(told.text)
    if result.aggregation_error:
        say(f"warning: the rollouts are on disk, but not aggregated: {result.aggregation_error}")
    problem = collection_problem(result, require_complete=require_complete)
    if problem and told.error:
        say(f"warning: {told.error}")
    error = problem or told.error
    if error:
        raise error


def _describe_upload(result: Collected) -> list[Upload]:
    from collector.commands.collected_upload import collected_upload

    if result.signal:
        raise ServerError("you stopped the collection")
    return [collected_upload(result)]
