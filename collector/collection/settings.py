"""The settings of `collect` and `aggregate`: the one place where each of them is declared.

A field has its type, default and checks. The `Option` in its annotation adds what the command line
needs: flags that are not its name with dashes, and the help, which is also its row in
docs/commands.md. `OverrideName` and the notes beside it are for NeMo Gym's `+key=value` form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    StrictBool,
    model_validator,
)
from typer import Option

from collector.artifacts import NO_ROLLOUTS
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.keys import MAX_ROLLOUT
from collector.overrides import MAP, OptionNote, OverrideName
from collector.secrets import secret_fields

DEFAULT_HEAD_PORT = 11000
DEFAULT = "_default"
"""The key of a map for every name that the map does not have."""
MAY_CHANGE = OptionNote("a resumed run may have another value")


def _valid_rollouts_path(path: Path) -> Path:
    if path.suffix != ".jsonl" or path.name.endswith(NO_ROLLOUTS):
        raise ValueError(
            f"{path} cannot be a rollouts file: its name must end in .jsonl, and not in "
            + ", ".join(NO_ROLLOUTS)
        )
    return path


def _valid_host(text: str) -> str:
    import httpx  # it takes longer to import than the help of a command to print

    try:
        httpx.URL(scheme="http", host=text)
    except httpx.InvalidURL:
        raise ValueError("not a host name or address") from None
    return text


def _parse_urls(urls: Any) -> Any:
    """Return a map of the texts `NAME=URL`; the error quotes none, it may hold a password."""
    if not isinstance(urls, list):
        return urls
    pairs = [text.partition("=") for text in urls]
    if not all(name and url for name, _, url in pairs):
        raise ValueError("write --agent-url like my_agent=http://127.0.0.1:8000")
    return {name: url for name, _, url in pairs}


def _parse_shard(shard: Any) -> Any:
    return shard.split("/") if isinstance(shard, str) else shard


def _valid_shard(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    if shard and shard[0] > shard[1]:
        raise ValueError(f"there is no shard {shard[0]} of {shard[1]}")
    return shard


def _positive_or_none(limit: int | None) -> int | None:
    return limit or None


def _one_if_none(repeats: Any) -> Any:
    return 1 if repeats is None else repeats


def _json_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with JSON's types: YAML has more."""
    try:
        return dict(json.loads(json.dumps(params, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this cannot be sent as JSON: {error}") from None


def _params_without_secrets(params: dict[str, Any]) -> dict[str, Any]:
    for name, _ in secret_fields(params):
        raise ValueError(
            f"{name} looks like a secret, and would be written into every materialized row:"
            " give it to the model server instead"
        )
    return params


def _valid_fan_out(fan_out: dict[str, list[str]]) -> dict[str, list[str]]:
    for key, agents in fan_out.items():
        if not agents:
            raise ValueError(f"{key} has no agents, so its rows would be dropped")
        if repeated := sorted({agent for agent in agents if agents.count(agent) > 1}):
            raise ValueError(f"{key} names {', '.join(repeated)} twice: repeat with num_repeats")
    return fan_out


Name = Annotated[str, Field(min_length=1)]
Repeats = Annotated[int, Field(ge=1, le=MAX_ROLLOUT, strict=True)]
RolloutsPath = Annotated[Path, AfterValidator(_valid_rollouts_path)]


class HeadAddress(BaseModel):
    """Where the head server is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head_host: Annotated[
        str,
        AfterValidator(_valid_host),
        Option(help="The host of the head server."),
        OverrideName("head_server.host"),
    ] = "127.0.0.1"
    head_port: Annotated[
        int,
        Field(ge=1, le=65535),
        Option(help="The port of the head server."),
        OverrideName("head_server.port"),
    ] = DEFAULT_HEAD_PORT


class Connection(HeadAddress):
    """How the servers are found, and how long a request may take."""

    agent_urls: Annotated[
        dict[str, str],
        BeforeValidator(_parse_urls),
        Option(
            "--agent-url",
            metavar="NAME=URL",
            help="The address of an agent, instead of asking the head server. May be repeated.",
        ),
        OverrideName("agent_url"),
    ] = {}
    request_timeout: Annotated[
        PositiveFloat, Option(help="Seconds to wait for the answer to a request.")
    ] = 3600.0


class Counting(BaseModel):
    """Which missing rollouts the agents count with a reward of 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count_failure_classes_as_zero: Annotated[
        tuple[Name, ...],
        Option(
            metavar="CLASS",
            help="Count failures of this class as a reward of 0 in the agents' own metrics."
            " May be repeated.",
        ),
    ] = ()
    count_missing_rollouts_as_zero: Annotated[
        StrictBool,
        Option(
            help="Count rollouts that left no row in any file as a reward of 0 in the agents'"
            " own metrics."
        ),
    ] = False

    @property
    def counts_any(self) -> bool:
        """Tell whether any missing rollout is counted."""
        return bool(self.count_failure_classes_as_zero) or self.count_missing_rollouts_as_zero


class AggregateSettings(Counting, Connection):
    """The settings of `spotter aggregate`."""

    input_glob: Annotated[
        Name,
        Option(
            "--input-glob",
            "--input",
            "-i",
            help="The rollouts files: patterns separated by commas. Other artifacts that match are"
            " skipped.",
        ),
    ]
    output_jsonl_fpath: Annotated[
        RolloutsPath,
        Option(
            "--output-jsonl-fpath",
            "--output",
            "-o",
            help="The merged rollouts file. The metrics file is named after it.",
        ),
    ]
    merge_shards: Annotated[
        StrictBool,
        Option("--merge-shards/--no-merge-shards", help="Write the merged files."),
    ] = True
    overwrite: Annotated[StrictBool, Option(help="Replace an earlier merged file.")] = False


class RowSettings(BaseModel):
    """The settings that decide which rows to run an input row becomes.

    The record of a run keeps them. A resumed run must have the same values, unless a field is
    marked with MAY_CHANGE.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_name: Annotated[
        Name | None,
        Option(
            "--agent-name",
            "-a",
            help="The agent for every row, even if a row names another one; a warning lists those"
            " rows.",
        ),
    ] = None
    agent_map: Annotated[
        dict[Name, Name],
        Field(description="a map like {old_agent: new_agent, _default: agent}"),
        Option(
            help="Map the agent or `task_source` that a row names to an agent:"
            " `{old: new, _default: agent}`."
        ),
        MAP,
    ] = {}
    fan_out: Annotated[
        dict[Name, list[Name]],
        AfterValidator(_valid_fan_out),
        Field(description="a map like {agent: [agent_a, agent_b]}"),
        Option(help="Send the same rows to several agents: `{agent: [agent_a, agent_b]}`."),
        MAP,
    ] = {}
    environment_routing_mode: Annotated[
        Literal["agent", "legacy", "taskset"],
        Option(
            help="Where rows without a taskset go: `agent` (to their agents), `legacy` (all to one"
            " environment server) or `taskset` (they are rejected)."
        ),
    ] = "agent"
    environment_server_name: Annotated[
        Name | None,
        Option(help="The environment server for the routing mode `legacy`."),
    ] = None
    environment_server_routes: Annotated[
        dict[Name, Name],
        Field(description="a map like {taskset: server}"),
        Option(help="The environment servers for rows of tasksets: `{taskset: server}`."),
        MAP,
    ] = {}
    limit: Annotated[
        NonNegativeInt | None,
        AfterValidator(_positive_or_none),
        Option(help="Use only the first lines of the input; 0 means all."),
        MAY_CHANGE,
    ] = None
    num_repeats: Annotated[
        Repeats | Annotated[dict[str, Repeats], Field(min_length=1)],
        BeforeValidator(_one_if_none),
        Field(description=f"a number from 1 to {MAX_ROLLOUT:,}, or {{agent: number, …}} of those"),
        Option(
            "--num-repeats",
            "-n",
            help="Rollouts per task: a number, or `{agent: number, _default: number}`.",
        ),
        MAP,
        MAY_CHANGE,
    ] = 1
    num_repeats_add_seed: Annotated[
        StrictBool, Option(help="Send the rollout index as vLLM's seed.")
    ] = False
    interleave_repeats: Annotated[
        StrictBool, Option(help="Run every task once, then every task again."), MAY_CHANGE
    ] = False
    responses_create_params: Annotated[
        dict[str, Any],
        AfterValidator(_json_params),
        AfterValidator(_params_without_secrets),
        Field(description="a map, like '{temperature: 0.7}'"),
        Option(help="Settings for the model, like `{temperature: 0.7}`. May be repeated."),
        MAP,
    ] = {}
    shard: Annotated[
        tuple[PositiveInt, PositiveInt] | None,
        BeforeValidator(_parse_shard),
        AfterValidator(_valid_shard),
        Field(description="a part of all, like 2/8"),
        Option(
            metavar="K/N",
            help="Collect only part K of N, like `2/8`; `spotter aggregate` merges the parts.",
        ),
    ] = None

    @property
    def agents_by_name(self) -> dict[str, str]:
        """Return `agent_map`, with `agent_name` as its default."""
        default = {DEFAULT: self.agent_name} if self.agent_name else {}
        return {**self.agent_map, **default}


class SessionSettings(BaseModel):
    """The settings of one session of a run: how rollouts are run, retried and stopped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_samples_in_parallel: Annotated[
        PositiveInt,
        Option("--num-samples-in-parallel", "--parallel", "-p", help="Rollouts to run at a time."),
    ] = 64
    resume_from_cache: Annotated[
        StrictBool,
        Option("--resume", "--resume-from-cache", help="Continue an unfinished run."),
    ] = False
    overwrite: Annotated[StrictBool, Option(help="Remove an earlier run and start over.")] = False
    max_attempts: Annotated[
        PositiveInt,
        Option(
            envvar="NEMO_GYM_MAX_ROLLOUT_ATTEMPTS",
            help="Attempts per rollout in total, over all sessions of the run.",
        ),
    ] = 3
    retry_terminal_timeouts: Annotated[
        StrictBool,
        Option(help="On resume, retry timeouts that an agent marked as terminal."),
    ] = False
    dispatch_longest_first: Annotated[
        StrictBool,
        Option(help="On resume, start with the rollouts whose earlier attempts took longest."),
    ] = False
    dispatch_budget_s: Annotated[
        NonNegativeFloat | None,
        Option(help="Seconds in which rollouts may run; `--resume` collects the rest."),
    ] = None
    drain_margin_s: Annotated[
        NonNegativeFloat | None,
        Option(
            show_default="the time within which 75 % of this run's rollouts finished",
            help="Start no rollout in the last seconds of the budget.",
        ),
    ] = None
    require_complete: Annotated[
        StrictBool, Option(help="Exit with 3 even if only the budget left rollouts out.")
    ] = False
    grace_period: Annotated[
        NonNegativeFloat,
        Option(help="Seconds that rollouts in flight get to finish after Ctrl-C."),
    ] = 30.0
    disable_aggregation: Annotated[
        StrictBool, Option(help="Do not ask the agents for their own metrics.")
    ] = False


class CollectOptions(RowSettings, SessionSettings, Counting, Connection):
    """The settings of `spotter collect`; with `--serve`, the task file may come later."""

    input_jsonl_fpath: Annotated[
        Path | None,
        Option(
            "--input-jsonl-fpath",
            "--input",
            "-i",
            readable=False,
            help="The task file; not needed with `--serve`.",
        ),
    ] = None
    output_jsonl_fpath: Annotated[
        RolloutsPath,
        Option(
            "--output-jsonl-fpath",
            "--output",
            "-o",
            help="The rollouts file. The other files are written beside it.",
        ),
    ]
    prompt_config: Annotated[
        Path | None,
        Option(
            readable=False,
            help="A YAML file with a `user` template and an optional `system` template.",
        ),
    ] = None

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        default = self.agent_map.get(DEFAULT)
        if self.agent_name and default and default != self.agent_name:
            raise ValueError(
                f"agent_name is {self.agent_name}, but agent_map sends the rest to {default}:"
                " give one of them"
            )
        if {OLD_LIMIT, LIMIT} <= self.responses_create_params.keys():
            raise ValueError(f"{OLD_LIMIT} and {LIMIT} are the same: give one of them")
        if self.environment_routing_mode == "legacy" and not self.environment_server_name:
            raise ValueError("environment_routing_mode=legacy needs environment_server_name")
        if self.environment_routing_mode == "taskset" and not self.environment_server_routes:
            raise ValueError("environment_routing_mode=taskset needs environment_server_routes")
        return self

    @model_validator(mode="after")
    def _refuse_lost_time(self) -> Self:
        budget, margin = self.dispatch_budget_s, self.drain_margin_s
        if margin is not None and budget is None:
            raise ValueError("drain_margin_s needs dispatch_budget_s, of which it is the last part")
        if margin is not None and budget is not None and margin >= budget:
            raise ValueError(
                f"drain_margin_s={margin:g} leaves no time to start a rollout within"
                f" dispatch_budget_s={budget:g}: give a larger budget or a smaller margin"
            )
        return self


class CollectSettings(CollectOptions):
    """The settings of a collection, whose task file is known."""

    input_jsonl_fpath: Path
