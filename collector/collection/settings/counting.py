"""The settings that say which missing rollouts count as a reward of 0."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool
from typer import Option


class Counting(BaseModel):
    """Which missing rollouts the agents count with a reward of 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count_failure_classes_as_zero: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
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
