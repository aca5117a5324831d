"""What decides the statistics of a profile, beside the files: passes, answers, slices, prices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import orjson

from collector.artifacts import RECORD_SUFFIX, Run, beside
from collector.errors import UsageError

ANSWER_FIELD = "extracted_answer"
PRICE_FIELDS = ("model", "input", "cached_input", "output")
PRICE = "struct(model varchar, input double, cached_input double, output double)"


@dataclass(frozen=True)
class PriceList:
    """What tokens cost by model, as the models read it, and the file that says so."""

    path: str
    rows: tuple[tuple[str, float, float, float], ...]
    """Model, price of input, of cached input and of output, per million tokens."""


@dataclass(frozen=True)
class Zeros:
    """Which rollouts without a result count as a reward of 0, beside the plain figure."""

    failure_classes: tuple[str, ...] = ()
    is_missing_zero: bool = False


@dataclass(frozen=True)
class Statistics:
    """What counts as a pass, where the answer is, what to slice by, and what tokens cost."""

    pass_threshold: float = 1.0
    answer_field: str | None = None
    slice_by: tuple[str, ...] = ()
    zeros: Zeros | None = None
    """How failures count; what the run was collected with if this is not given."""
    prices: PriceList | None = None

    def check(self) -> None:
        """Refuse settings that no run can have."""
        if not math.isfinite(self.pass_threshold):
            raise UsageError(f"--pass-threshold {self.pass_threshold}: not a finite number")
        for name in self.slice_by:
            if name in ("", "all"):
                raise UsageError(f"--slice-by {name!r}: name a field of the inputs or rollouts")
        if self.zeros and "" in self.zeros.failure_classes:
            raise UsageError("--count-failure-classes-as-zero '': name a failure class")
        if self.answer_field == "":
            raise UsageError("--answer-field '': name a field of the rollouts")

    def variables(self) -> dict[str, tuple[str, Any]]:
        """Return the variables that the models read, each with its type."""
        return {
            "spotter_pass_threshold": ("double", float(self.pass_threshold)),
            "spotter_answer_field": ("varchar", self.answer_field or ANSWER_FIELD),
            "spotter_slice_by": ("varchar[]", list(dict.fromkeys(self.slice_by))),
            "spotter_prices": (
                f"{PRICE}[]",
                [dict(zip(PRICE_FIELDS, row, strict=True)) for row in self.prices.rows]
                if self.prices
                else [],
            ),
        }

    def zeros_of(self, run: Run) -> Zeros:
        """Return how the failures of a run count."""
        return recorded_zeros(run) if self.zeros is None else self.zeros


def recorded_zeros(run: Run) -> Zeros:
    """Return what the run was collected with, if its record says so."""
    try:
        record = orjson.loads(beside(run.rollouts, RECORD_SUFFIX).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return Zeros()
    settings = record.get("settings") if isinstance(record, dict) else None
    if not isinstance(settings, dict):
        return Zeros()
    classes = settings.get("count_failure_classes_as_zero")
    named = classes if isinstance(classes, list) else []
    return Zeros(
        tuple(name for name in named if isinstance(name, str)),
        settings.get("count_missing_rollouts_as_zero") is True,
    )
