"""Simulated faults, to see how a collection handles failures."""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto
from random import Random

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class Fault(Enum):
    """A fault in the first step of a rollout."""

    FAILURE = auto()
    """The server answers with an error; another attempt may succeed."""
    HANG = auto()
    """The server does not answer; another attempt may succeed."""
    OUTAGE = auto()
    """The server answers that its provider is down; the environment masks the rollout."""


class FaultRates(BaseModel):
    """The share of attempts with each kind of fault."""

    model_config = ConfigDict(frozen=True)

    failure_rate: float = Field(default=0.0, ge=0, le=1)
    hang_rate: float = Field(default=0.0, ge=0, le=1)
    mask_rate: float = Field(default=0.0, ge=0, le=1)

    @field_validator("mask_rate")
    @classmethod
    def _check_sum(cls, rate: float, others: ValidationInfo) -> float:
        if rate + sum(others.data.values()) > 1:
            raise ValueError("the sum with failure_rate and hang_rate is more than 1")
        return rate


class FaultSchedule:
    """Draws the fault of every attempt at a rollout."""

    def __init__(self, rates: FaultRates) -> None:
        """Start without earlier attempts."""
        self._rates = rates
        self._lost: Counter[str] = Counter()

    def draw(self, key: str | None) -> Fault | None:
        """Return the fault of an attempt, or None; without a key it is random.

        Attempts at the same rollout have the same key. The fault depends on the key and on the
        number of failures in a row, so that a retry can succeed and a new collection of the same
        tasks has the same faults.
        """
        if key is None:
            return self._fault(Random())  # noqa: S311
        fault = self._fault(Random(f"{key} fault {self._lost[key]}"))  # noqa: S311
        if fault in (Fault.FAILURE, Fault.HANG):
            self._lost[key] += 1
        else:
            del self._lost[key]
        return fault

    def _fault(self, rng: Random) -> Fault | None:
        drawn = rng.random()
        for fault, rate in (
            (Fault.FAILURE, self._rates.failure_rate),
            (Fault.HANG, self._rates.hang_rate),
            (Fault.OUTAGE, self._rates.mask_rate),
        ):
            if drawn < rate:
                return fault
            drawn -= rate
        return None
