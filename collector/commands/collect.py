"""`spotter collect`, also `ng_collect_rollouts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from collector.commands.common import (
    CONNECTION_OVERRIDES,
    AgentUrls,
    HeadHost,
    HeadPort,
    RequestTimeout,
    parsed,
    parsed_urls,
    print_json,
)
from collector.errors import ServerError
from collector.overrides import Override

OVERRIDES = {
    "agent_name": Override("--agent-name"),
    "input_jsonl_fpath": Override("--input-jsonl-fpath"),
    "output_jsonl_fpath": Override("--output-jsonl-fpath"),
    "limit": Override("--limit"),
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
}


def collect(
    *,
    agent_name: Annotated[
        str | None,
        typer.Option("--agent-name", "-a", help="The agent for rows that name none."),
    ] = None,
    input_jsonl_fpath: Annotated[
        Path,
        typer.Option("--input-jsonl-fpath", "--input", "-i", readable=False, help="The task file."),
    ],
    output_jsonl_fpath: Annotated[
        Path, typer.Option("--output-jsonl-fpath", "--output", "-o", help="The rollouts file.")
    ],
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
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Ask agent servers for repeated rollouts, and write what they answer.

    Writes <output>.jsonl line by line, and beside it the materialized inputs, failed attempts, a
    record of the run and the agents' own metrics. Exits with 3 if rollouts are missing in the end.

    \b
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 4
    spotter collect -a my_agent -i tasks.jsonl -o results/rollouts.jsonl -n 8 --resume
    spotter collect +agent_name=my_agent +input_jsonl_fpath=tasks.jsonl \\
        +output_jsonl_fpath=results/rollouts.jsonl +num_repeats=4 +num_samples_in_parallel=10 \\
        '+responses_create_params={temperature: 0.7}'
    """
    from collector.checking import checked
    from collector.collection import report
    from collector.collection.collect import collect as collect_run
    from collector.collection.progress import CollectProgress
    from collector.collection.settings import CollectSettings

    given: dict[str, Any] = {
        "agent_name": agent_name,
        "input_jsonl_fpath": input_jsonl_fpath,
        "output_jsonl_fpath": output_jsonl_fpath,
        "limit": limit,
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
    result = collect_run(checked(CollectSettings, given), CollectProgress())
    if json:
        print_json(report.as_data(result))
    elif result.files.inputs.exists():  # else no server was reached, and the error says all
        typer.echo(report.as_text(result))
    if result.aggregation_error:
        typer.echo(
            f"warning: the rollouts are complete on disk, but not aggregated:"
            f" {result.aggregation_error}",
            err=True,
        )
    if result.error:
        raise result.error
    if result.signal:
        raise typer.Exit(128 + result.signal)
    if result.missing_count:
        raise ServerError(f"{result.missing_count:,} of {result.expected_count:,} rollouts failed")
