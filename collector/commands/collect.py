"""`spotter collect`, also `ng_collect_rollouts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from collector.commands import collect_options as options
from collector.commands.collect_options import FOREIGN
from collector.commands.collect_served import Served, collect_here, collect_served, found
from collector.commands.common import (
    AgentUrls,
    HeadHost,
    HeadPort,
    Json,
    RequestTimeout,
    parsed_urls,
    print_json,
    print_text,
    settings_given,
)
from collector.commands.counting import CountFailures, CountMissing
from collector.commands.uploads import Trackers, ready_trackers
from collector.commands.uploads import upload as upload_to
from collector.errors import ServerError, UsageError
from collector.terminal import counted_noun, say, show

if TYPE_CHECKING:
    from collector.collection.collect import Collected
    from collector.uploading.content import Upload

__all__ = ["FOREIGN", "collect"]


def collect(
    *,
    agent_name: options.AgentName = None,
    agent_map: options.AgentMap = None,
    fan_out: options.FanOut = None,
    input_jsonl_fpath: options.Input = None,
    output_jsonl_fpath: options.Output,
    serve: options.Serve = False,
    config: options.ServedConfigs = None,
    settings: options.ServedSet = None,
    split: options.Split = None,
    reuse_existing_data_preparation: options.Reuse = False,
    shard: options.Shard = None,
    limit: options.Limit = None,
    num_repeats: options.NumRepeats = None,
    num_repeats_add_seed: options.AddSeed = False,
    interleave_repeats: options.Interleave = False,
    num_samples_in_parallel: options.Parallel = 64,
    responses_create_params: options.Params = None,
    prompt_config: options.PromptConfig = None,
    environment_server_routes: options.EnvironmentServerRoutes = None,
    environment_routing_mode: options.EnvironmentRoutingMode = "agent",
    environment_server_name: options.EnvironmentServerName = None,
    resume_from_cache: options.Resume = False,
    overwrite: options.Overwrite = False,
    disable_aggregation: options.NoAggregation = False,
    count_failure_classes_as_zero: CountFailures = None,
    count_missing_rollouts_as_zero: CountMissing = False,
    max_attempts: options.MaxAttempts = 3,
    retry_terminal_timeouts: options.RetryTimeouts = False,
    dispatch_longest_first: options.LongestFirst = False,
    dispatch_budget_s: options.DispatchBudget = None,
    drain_margin_s: options.DrainMargin = None,
    require_complete: options.RequireComplete = False,
    agent_url: AgentUrls = None,
    head_host: HeadHost = "127.0.0.1",
    head_port: HeadPort = 11000,
    request_timeout: RequestTimeout = 3600.0,
    grace_period: options.GracePeriod = 30.0,
    upload: Trackers = None,
    json: Json = False,
) -> None:
    """Ask agent servers for repeated rollouts, and write what they answer.

    Writes <output>.jsonl line by line, and beside it the materialized inputs, failed attempts, a
    record of the run and the agents' own metrics. Exits with 3 if rollouts are missing in the end,
    unless nothing but --dispatch-budget-s left them out.

    \b
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 8 --resume
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4 --upload wandb
    spotter collect +agent_name=my_agent +input_jsonl_fpath=tasks.jsonl \\
        +output_jsonl_fpath=results/rollouts.jsonl +num_repeats=4 +num_samples_in_parallel=10 \\
        '+responses_create_params={temperature: 0.7}'
    spotter collect --serve -o results/rollouts.jsonl --split validation \\
        -c resources_servers/workplace_assistant/configs/workplace_assistant.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    """
    named = locals()
    from collector.collection.settings import CollectSettings

    given = {
        **settings_given(collect, named, CollectSettings),
        "shard": shard.split("/") if shard else None,
        "agent_urls": parsed_urls(agent_url or []),
    }
    trackers = ready_trackers(upload)
    served = Served(
        config or [], settings or [], split or "train", reuse=reuse_existing_data_preparation
    )
    if serve:
        result = collect_served(given, served)
    elif input_jsonl_fpath is None:
        raise UsageError("which tasks? Name a task file with --input, or configs with --serve")
    elif config or settings or split or reuse_existing_data_preparation:
        raise UsageError(
            "--config, --set, --split and --reuse-existing-data-preparation are for --serve"
        )
    else:
        result = collect_here({**given, "input_jsonl_fpath": found(input_jsonl_fpath)})
    _tell(result, trackers, as_json=json, require_complete=require_complete)


def _tell(result: Collected, trackers: list[str], *, as_json: bool, require_complete: bool) -> None:
    from collector.collection import report

    if not as_json:
        show(report.as_blocks(result))
    again = report.profile_command(result)
    told = upload_to(trackers, lambda: _described(result), again=again)
    if as_json:
        print_json({**report.as_data(result), **told.data})
    elif told.text:
        print_text(told.text)
    if result.aggregation_error:
        say(f"warning: the rollouts are on disk, but not aggregated: {result.aggregation_error}")
    problem = _problem(result, require_complete=require_complete)
    if problem and told.error:
        say(f"warning: {told.error}")
    error = problem or told.error
    if error:
        raise error


def _described(result: Collected) -> list[Upload]:
    from collector.commands.collected_upload import collected_upload

    if result.signal:
        raise ServerError("you stopped the collection")
    return [collected_upload(result)]


def _problem(result: Collected, *, require_complete: bool) -> Exception | None:
    """Return how the command is to end, if not well."""
    if result.error:
        return result.error
    if result.signal:
        return typer.Exit(128 + result.signal)
    is_as_planned = result.is_out_of_time and result.missing_count == result.open_count
    if is_as_planned and result.new_count and not require_complete:
        return None  # the next session goes on
    if result.missing_count:
        reason = f"; the last failure was {result.last_failure}" if result.last_failure else ""
        return ServerError(
            f"{counted_noun(result.missing_count, 'rollout')} of {result.expected_count:,} missing"
            f"{reason}"
        )
    return None
