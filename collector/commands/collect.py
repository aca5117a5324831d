"""`spotter collect`, also `ng_collect_rollouts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.commands.common import (
    CONNECTION_OVERRIDES,
    AgentUrls,
    Configs,
    HeadHost,
    HeadPort,
    RequestTimeout,
    Set,
    parsed,
    parsed_urls,
    print_json,
    print_text,
)
from collector.commands.uploads import UPLOAD_OVERRIDES, Trackers, ready_trackers, say
from collector.commands.uploads import upload as upload_to
from collector.errors import ServerError, UsageError
from collector.overrides import ANY, Override

if TYPE_CHECKING:
    from collector.collection.collect import Collected
    from collector.uploading.content import Upload

OVERRIDES = {
    "agent_name": Override("--agent-name"),
    "input_jsonl_fpath": Override("--input-jsonl-fpath"),
    "output_jsonl_fpath": Override("--output-jsonl-fpath"),
    "limit": Override("--limit"),
    "shard": Override("--shard"),
    "num_repeats": Override("--num-repeats", is_map=True),
    "num_repeats_add_seed": Override("--num-repeats-add-seed", is_switch=True),
    "num_samples_in_parallel": Override("--num-samples-in-parallel"),
    "responses_create_params": Override("--responses-create-params", is_map=True),
    "prompt_config": Override("--prompt-config"),
    "resume_from_cache": Override("--resume-from-cache", is_switch=True),
    "overwrite": Override("--overwrite", is_switch=True),
    "disable_aggregation": Override("--disable-aggregation", is_switch=True),
    "max_attempts": Override("--max-attempts"),
    "grace_period": Override("--grace-period"),
    **CONNECTION_OVERRIDES,
    **UPLOAD_OVERRIDES,
}
SERVE_OVERRIDES = {
    **OVERRIDES,
    "config_paths": Override("--config", is_list=True),
    "split": Override("--split"),
    ANY: Override("--set"),
}


def collect(
    *,
    agent_name: Annotated[
        str | None,
        typer.Option("--agent-name", "-a", help="The agent for rows that name none."),
    ] = None,
    input_jsonl_fpath: Annotated[
        Path | None,
        typer.Option(
            "--input-jsonl-fpath",
            "--input",
            "-i",
            readable=False,
            help="The task file; not needed with --serve.",
        ),
    ] = None,
    output_jsonl_fpath: Annotated[
        Path, typer.Option("--output-jsonl-fpath", "--output", "-o", help="The rollouts file.")
    ],
    serve: Annotated[
        bool, typer.Option("--serve", help="Start the servers of --config, and stop them after.")
    ] = False,
    config: Configs = None,
    settings: Set = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Which datasets of the configs to collect, with --serve.  [default: train]"
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Collect only part K of N; spotter aggregate joins them."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Take only the first lines of the input; 0 takes all.")
    ] = None,
    num_repeats: Annotated[
        list[str] | None,
        typer.Option(
            "--num-repeats",
            "-n",
            help="Rollouts a task: a number, or {agent: number, _default: number}.  [default: 1]",
        ),
    ] = None,
    num_repeats_add_seed: Annotated[
        bool,
        typer.Option("--num-repeats-add-seed", help="Send the rollout index as vLLM's seed."),
    ] = False,
    num_samples_in_parallel: Annotated[
        int,
        typer.Option("--num-samples-in-parallel", "--parallel", "-p", help="Rollouts at once."),
    ] = 64,
    responses_create_params: Annotated[
        list[str] | None,
        typer.Option(help="Settings for the model, like '{temperature: 0.7}'; may be repeated."),
    ] = None,
    prompt_config: Annotated[
        Path | None,
        typer.Option(readable=False, help="A YAML file with a user and perhaps a system template."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", "--resume-from-cache", help="Go on with an unfinished run."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove an earlier run and start anew.")
    ] = False,
    disable_aggregation: Annotated[
        bool,
        typer.Option("--disable-aggregation", help="Do not ask the agents for their own metrics."),
    ] = False,
    max_attempts: Annotated[
        int, typer.Option(help="Attempts a rollout gets in all, also over several sessions.")
    ] = 3,
    agent_url: AgentUrls = None,
    head_host: HeadHost = "127.0.0.1",
    head_port: HeadPort = 11000,
    request_timeout: RequestTimeout = 3600.0,
    grace_period: Annotated[
        float, typer.Option(help="Seconds that rollouts in flight get when you stop.")
    ] = 30.0,
    upload: Trackers = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Ask agent servers for repeated rollouts, and write what they answer.

    Writes <output>.jsonl line by line, and beside it the materialized inputs, failed attempts, a
    record of the run and the agents' own metrics. Exits with 3 if rollouts are missing in the end.

    \b
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 8 --resume
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4 --upload wandb
    spotter collect +agent_name=my_agent +input_jsonl_fpath=tasks.jsonl \\
        +output_jsonl_fpath=results/rollouts.jsonl +num_repeats=4 +num_samples_in_parallel=10 \\
        '+responses_create_params={temperature: 0.7}'
    spotter collect --serve -o results/rollouts.jsonl --split validation \\
        -c resources_servers/workplace/configs/workplace.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    """
    given: dict[str, Any] = {
        "agent_name": agent_name,
        "input_jsonl_fpath": input_jsonl_fpath,
        "output_jsonl_fpath": output_jsonl_fpath,
        "limit": limit,
        "shard": shard.split("/") if shard else None,
        "num_repeats": parsed("num_repeats", num_repeats or []),
        "num_repeats_add_seed": num_repeats_add_seed,
        "num_samples_in_parallel": num_samples_in_parallel,
        "responses_create_params": parsed("responses_create_params", responses_create_params or [])
        or {},
        "prompt_config": prompt_config,
        "resume_from_cache": resume,
        "overwrite": overwrite,
        "disable_aggregation": disable_aggregation,
        "max_attempts": max_attempts,
        "agent_urls": parsed_urls(agent_url or []),
        "head_host": head_host,
        "head_port": head_port,
        "request_timeout": request_timeout,
        "grace_period": grace_period,
    }
    trackers = ready_trackers(upload)
    if serve:
        result = _collect_served(given, config or [], settings or [], split or "train")
    elif input_jsonl_fpath is None:
        raise UsageError("which tasks? Name a task file with --input, or configs with --serve")
    elif config or settings or split:
        raise UsageError("--config, --set and --split are for --serve")
    else:
        result = _collect({**given, "input_jsonl_fpath": _found(input_jsonl_fpath)})
    _tell(result, trackers, as_json=json)


def _found(path: Path) -> Path:
    """Return the task file as it was given, or the one of that name that comes with spotter."""
    from collector.places import GYM_ROOT

    packaged = GYM_ROOT / path
    return packaged if not path.exists() and packaged.is_file() else path


def _collect(given: dict[str, Any]) -> Collected:
    from collector.checking import checked
    from collector.collection.collect import collect as collect_run
    from collector.collection.progress import CollectProgress
    from collector.collection.settings import CollectSettings

    return collect_run(checked(CollectSettings, given), CollectProgress())


def _collect_served(
    given: dict[str, Any], configs: list[str], settings: list[str], split: str
) -> Collected:
    from collector.artifacts import TASKS_SUFFIX, beside
    from collector.servers.config import load_config, servers_of
    from collector.servers.datasets import write_split
    from collector.servers.serve import child_gym

    servers = servers_of(load_config(configs, settings))
    if given["input_jsonl_fpath"] is None:
        tasks = beside(given["output_jsonl_fpath"].absolute(), TASKS_SUFFIX)
        write_split(servers, split, tasks)
        given = {**given, "input_jsonl_fpath": tasks}
    else:
        given = {**given, "input_jsonl_fpath": _found(given["input_jsonl_fpath"])}
    with child_gym(configs, settings) as gym:
        return _collect({**given, "head_host": gym.head_host, "head_port": gym.head_port})


def _tell(result: Collected, trackers: list[str], *, as_json: bool) -> None:
    from collector.collection import report

    if not as_json:
        print_text(report.as_text(result))
    again = report.profile_command(result)
    told = upload_to(trackers, lambda: _described(result), again=again)
    if as_json:
        print_json({**report.as_data(result), **told.data})
    elif told.text:
        print_text(told.text)
    if result.aggregation_error:
        say(f"warning: the rollouts are on disk, but not aggregated: {result.aggregation_error}")
    problem = _problem(result)
    if problem and told.error:
        say(f"warning: {told.error}")
    error = problem or told.error
    if error:
        raise error


def _described(result: Collected) -> list[Upload]:
    from collector.uploading.collected import collected_upload

    if result.signal:
        raise ServerError("you stopped the collection")
    return [collected_upload(result)]


def _problem(result: Collected) -> Exception | None:
    """Return how the command is to end, if not well."""
    from collector.terminal import counted_noun

    if result.error:
        return result.error
    if result.signal:
        return typer.Exit(128 + result.signal)
    if result.missing_count:
        reason = f"; the last failure was {result.last_failure}" if result.last_failure else ""
        return ServerError(
            f"{result.missing_count:,} of {counted_noun(result.expected_count, 'rollout')} are"
            f" missing{reason}"
        )
    return None
