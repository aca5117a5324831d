"""The settings that say when a task needs no more repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from typer import Option

LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.8, 0.999
KIND = "decided"


@dataclass(frozen=True)
class StoppingRule:
    """A task needs no more repeats once its band is decided with this confidence."""

    confidence: float
    pass_threshold: float

    @property
    def error_limit(self) -> float:
        """Return the largest chance of a wrong band."""
        return round(1 - self.confidence, 9)

    def __str__(self) -> str:
        """Return the rule as people type it."""
        return f"{KIND}:{self.confidence:g}"


def _valid_rule(text: str | None) -> str | None:
    if text is None:
        return None
    kind, _, number = text.partition(":")
    try:
        confidence = float(number)
    except ValueError:
        confidence = 0.0
    if kind != KIND or not LEAST_CONFIDENCE <= confidence <= MOST_CONFIDENCE:
        raise ValueError(
            f"write it like {KIND}:0.95, with a confidence from {LEAST_CONFIDENCE} to"
            f" {MOST_CONFIDENCE}"
        )
    return f"{KIND}:{confidence:g}"


class StoppingSettings(BaseModel):
    """When a task needs no more repeats."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    until: Annotated[
        str | None,
        AfterValidator(_valid_rule),
        Option(
            metavar="decided:0.95",
            help="Draw no more repeats of a task once its band (solved, learnable, unsolved) is"
            " decided with this confidence; `--num-repeats` is the most.",
        ),
    ] = None
    pass_threshold: Annotated[
        float,
        Field(allow_inf_nan=False, description="a finite number"),
        Option(help="With `--until`, a rollout passes if its reward is at least this."),
    ] = 1.0

    @property
    def stopping_rule(self) -> StoppingRule | None:
        """Return the rule, if there is one."""
        if self.until is None:
            return None
        return StoppingRule(float(self.until.partition(":")[2]), self.pass_threshold)

    @model_validator(mode="after")
    def _refuse_lone_threshold(self) -> Self:
        if self.until is None and self.pass_threshold != 1.0:
            raise ValueError("pass_threshold is for until; `spotter profile` has its own")
        return self
