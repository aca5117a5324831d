"""Faults: rollouts that the simulated model is told to spoil, so that one can see what follows."""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto
from random import Random

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class Fault(Enum):
    """What goes wrong at the beginning of a rollout."""

    FAILURE = auto()
    """The server answers with an error; another attempt may succeed."""
    HANG = auto()
    """The server does not answer; another attempt may succeed."""
    OUTAGE = auto()
    """The server answers that its provider is down; whoever judges the rollout masks it."""


class Rates(BaseModel):
    """The shares of attempts that go wrong, each in its own way."""

    model_config = ConfigDict(frozen=True)

    failure_rate: float = Field(default=0.0, ge=0, le=1)
    hang_rate: float = Field(default=0.0, ge=0, le=1)
    mask_rate: float = Field(default=0.0, ge=0, le=1)

    @field_validator("mask_rate")
    @classmethod
    def _add_up(cls, rate: float, others: ValidationInfo) -> float:
        if rate + sum(others.data.values()) > 1:
            raise ValueError("more than 1, together with failure_rate and hang_rate")
        return rate


class Faults:
    """Decides for every attempt at a rollout whether it goes wrong."""

    def __init__(self, rates: Rates) -> None:
        """Begin without any earlier attempt."""
        self._rates = rates
        self._lost: Counter[str] = Counter()

    def draw(self, key: str | None) -> Fault | None:
        """Return the fault of an attempt; a key (there is one if there is a seed) determines it.

        Attempts at the same rollout have the same key. They are told apart by how many of them
        failed in a row, so that a retry has a chance, and a new collection the same faults.
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
