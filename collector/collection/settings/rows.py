"""The settings that decide which rows to run an input row becomes."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    StrictBool,
)
from typer import Option

from collector.keys import MAX_ROLLOUT
from collector.overrides import MAP, OptionNote
from collector.secrets import secret_fields

DEFAULT = "_default"
"""The key of a map for every name that the map does not have."""
MAY_CHANGE = OptionNote("a resumed run may have another value")
Name = Annotated[str, Field(min_length=1)]
Repeats = Annotated[int, Field(ge=1, le=MAX_ROLLOUT, strict=True)]


def _parse_shard(shard: Any) -> Any:
    return shard.split("/") if isinstance(shard, str) else shard


def _valid_shard(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    if shard and shard[0] > shard[1]:
        raise ValueError(f"there is no shard {shard[0]} of {shard[1]}")
    return shard


def positive_or_none(limit: int | None) -> int | None:
    """Return a limit, which 0 switches off."""
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
        AfterValidator(positive_or_none),
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
            help="Collect only part K of N, like `2/8`; `spotter aggregate` merges the parts, and"
            " `spotter merge` their profiles.",
        ),
    ] = None

    @property
    def agents_by_name(self) -> dict[str, str]:
        """Return `agent_map`, with `agent_name` as its default."""
        default = {DEFAULT: self.agent_name} if self.agent_name else {}
        return {**self.agent_map, **default}
