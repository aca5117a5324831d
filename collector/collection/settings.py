"""The settings of a collection, checked where they come in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Self

import httpx
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    StrictBool,
    model_validator,
)

from collector.artifacts import NO_ROLLOUTS
from collector.collection.materialize import Recipe
from collector.collection.prompts import Prompt
from collector.collection.routing import DEFAULT, Mode, Routing
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.keys import MAX_ROLLOUT
from collector.secrets import secret_fields

DEFAULT_HEAD_PORT = 11000


def _rollouts_path(path: Path) -> Path:
    if path.suffix != ".jsonl" or path.name.endswith(NO_ROLLOUTS):
        raise ValueError(
            f"{path} cannot be a rollouts file: its name must end in .jsonl, and not in "
            + ", ".join(NO_ROLLOUTS)
        )
    return path


def _valid_host(text: str) -> str:
    try:
        httpx.URL(scheme="http", host=text)
    except httpx.InvalidURL:
        raise ValueError("not a host's name or address") from None
    return text


def _json_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters as JSON has them: YAML knows more."""
    try:
        made: dict[str, Any] = json.loads(json.dumps(params, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this cannot be sent as JSON: {error}") from None
    return made


def _valid_shard(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    if shard and shard[0] > shard[1]:
        raise ValueError(f"there is no shard {shard[0]} of {shard[1]}")
    return shard


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
Params = Annotated[
    dict[str, Any], AfterValidator(_json_params), AfterValidator(_params_without_secrets)
]


class Connection(BaseModel):
    """How servers are found and talked to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head_host: Annotated[str, AfterValidator(_valid_host)] = "127.0.0.1"
    head_port: Annotated[int, Field(ge=1, le=65535)] = DEFAULT_HEAD_PORT
    agent_urls: dict[str, str] = {}
    request_timeout: PositiveFloat = 3600.0


class Counting(BaseModel):
    """Which rollouts that are not there the agents count with a reward of 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count_failure_classes_as_zero: tuple[Name, ...] = ()
    count_missing_rollouts_as_zero: StrictBool = False

    @property
    def counts_any(self) -> bool:
        """Tell whether anything is counted as zero at all."""
        return bool(self.count_failure_classes_as_zero) or self.count_missing_rollouts_as_zero


class AggregateSettings(Connection, Counting):
    """Everything that `spotter aggregate` can be told."""

    input_glob: Annotated[str, Field(min_length=1)]
    output_jsonl_fpath: Annotated[Path, AfterValidator(_rollouts_path)]
    merge_shards: StrictBool = True
    overwrite: StrictBool = False


class RowSettings(BaseModel):
    """What decides how input rows become rows to run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_name: Name | None = None
    agent_map: Annotated[
        dict[Name, Name], Field(description="a map like {old_agent: new_agent, _default: agent}")
    ] = {}
    fan_out: Annotated[
        dict[Name, list[Name]],
        AfterValidator(_valid_fan_out),
        Field(description="a map like {agent: [agent_a, agent_b]}"),
    ] = {}
    environment_routing_mode: Mode = "agent"
    environment_server_name: Name | None = None
    environment_server_routes: Annotated[
        dict[Name, Name], Field(description="a map like {taskset: server}")
    ] = {}
    limit: NonNegativeInt | None = None
    num_repeats: Annotated[
        Repeats | Annotated[dict[str, Repeats], Field(min_length=1)] | None,
        Field(description=f"a number from 1 to {MAX_ROLLOUT:,}, or {{agent: number, …}} of those"),
    ] = None
    num_repeats_add_seed: StrictBool = False
    interleave_repeats: StrictBool = False
    responses_create_params: Annotated[
        Params, Field(description="a map, like '{temperature: 0.7}'")
    ] = {}
    shard: Annotated[
        tuple[PositiveInt, PositiveInt] | None,
        AfterValidator(_valid_shard),
        Field(description="a part of all, like 2/8"),
    ] = None
    prompt_config: Path | None = None

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

    def recipe(self, prompt: Prompt | None, *, keeps_own_agents: bool = False) -> Recipe:
        """Return what decides how input rows become rows to run."""
        return Recipe(
            agent_name=self.agent_name,
            routing=Routing(
                agent_map=self.agent_map,
                fan_out=self.fan_out,
                environment_mode=self.environment_routing_mode,
                environment_server=self.environment_server_name,
                environment_routes=self.environment_server_routes,
                keeps_own_agents=keeps_own_agents,
            ),
            limit=self.limit,
            num_repeats=1 if self.num_repeats is None else self.num_repeats,
            num_repeats_add_seed=self.num_repeats_add_seed,
            interleave_repeats=self.interleave_repeats,
            responses_create_params=self.responses_create_params,
            prompt=prompt,
            shard=self.shard,
        )


class CollectSettings(Connection, Counting, RowSettings):
    """Everything that `spotter collect` can be told."""

    input_jsonl_fpath: Path
    output_jsonl_fpath: Annotated[Path, AfterValidator(_rollouts_path)]
    num_samples_in_parallel: PositiveInt = 64
    max_attempts: PositiveInt = 3
    grace_period: NonNegativeFloat = 30.0
    dispatch_budget_s: NonNegativeFloat | None = None
    drain_margin_s: NonNegativeFloat | None = None
    dispatch_longest_first: StrictBool = False
    retry_terminal_timeouts: StrictBool = False
    require_complete: StrictBool = False
    resume_from_cache: StrictBool = False
    overwrite: StrictBool = False
    disable_aggregation: StrictBool = False

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
