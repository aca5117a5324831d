"""The settings of one session of a run: how rollouts are run, retried and stopped."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    NonNegativeFloat,
    PositiveInt,
    StrictBool,
    model_validator,
)
from typer import Option


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
