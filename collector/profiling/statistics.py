"""The settings that decide the statistics of a profile: passes, answers, slices, prices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from collector.artifacts import Run
from collector.errors import UsageError
from collector.profiling.run_records import recorded_part

ANSWER_FIELD = "extracted_answer"
PRICE_FIELDS = ("model", "input", "cached_input", "output")
PRICE = "struct(model varchar, input double, cached_input double, output double)"


@dataclass(frozen=True)
class PriceList:
    """The prices of tokens by model, and the file they come from."""

    path: str
    rows: tuple[tuple[str, float, float, float], ...]
    """Model, then the prices of input, cached input and output, per million tokens."""


@dataclass(frozen=True)
class ZeroRules:
    """Which missing rollouts count as a reward of 0, in a second mean beside the plain one."""

    failure_classes: tuple[str, ...] = ()
    is_missing_zero: bool = False


@dataclass(frozen=True)
class Statistics:
    """The pass threshold, the answer field, the fields to slice by, and the prices of tokens."""

    pass_threshold: float = 1.0
    answer_field: str | None = None
    slice_by: tuple[str, ...] = ()
    zeros: ZeroRules | None = None
    """How missing rollouts count; None means the rules that the run was collected with."""
    prices: PriceList | None = None

    def check(self) -> None:
        """Raise UsageError if a setting is invalid for every run."""
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
        """Return the variables that the models read, each with its SQL type and value."""
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

    def zero_rules(self, run: Run) -> ZeroRules:
        """Return how the missing rollouts of a run count."""
        return recorded_zero_rules(run) if self.zeros is None else self.zeros


def recorded_zero_rules(run: Run) -> ZeroRules:
    """Return the rules that a run was collected with; the default if it has no readable record."""
    settings = recorded_part(run.rollouts, "settings")
    classes = settings.get("count_failure_classes_as_zero")
    names = classes if isinstance(classes, list) else []
    return ZeroRules(
        tuple(name for name in names if isinstance(name, str)),
        settings.get("count_missing_rollouts_as_zero") is True,
    )


def recorded_stopping_rule(run: Run) -> str | None:
    """Return the rule by which the collector drew fewer repeats of some tasks, if it did."""
    rule = recorded_part(run.rollouts, "stopping").get("rule")
    return rule if isinstance(rule, str) else None
