"""A recipe: which tasks are kept, how many of each kind, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

BANDS = ("learnable", "solved", "unsolved", "undecided")
DROPS = ("zero_variance", "unhealthy", "masked", "truncated")


def _texts(value: Any) -> Any:
    """Return the names of slices as the marts write them: YAML reads some texts as numbers."""
    if not isinstance(value, dict):
        return value
    return {
        str(name).lower() if isinstance(name, bool) else str(name): part
        for name, part in value.items()
    }


Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1, lt=1 << 63)]
Steps = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Text = Annotated[str, Field(min_length=1)]


class RecipePart(BaseModel):
    """A part of a recipe: unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Keep(RecipePart):
    """The pass rates to keep, and what must lie between the bounds."""

    pass_rate: tuple[Share, Share]
    decided_on: Literal["interval", "point"] = "interval"

    @model_validator(mode="after")
    def _refuse_an_empty_range(self) -> Self:
        if self.pass_rate[0] > self.pass_rate[1]:
            raise ValueError("pass_rate: the lower bound is above the upper one")
        return self


class PerSlice(RecipePart):
    """Limits for the slices of a field."""

    by: Text
    at_most: Count | None = None
    shares: Annotated[dict[str, Share], BeforeValidator(_texts)] = {}

    @model_validator(mode="after")
    def _refuse_too_much(self) -> Self:
        if (total := sum(self.shares.values())) > 1 + 1e-9:
            raise ValueError(f"shares: they add up to {total:g}, which is more than 1")
        if self.at_most is None and not self.shares:
            raise ValueError("give at_most or shares")
        return self


class Target(RecipePart):
    """How the pass rates of the chosen tasks are distributed."""

    distribution: Literal["gaussian", "uniform"] | None = None
    mean: Share | None = None
    std: Positive | None = None
    weights: dict[Literal["learnable", "solved", "unsolved", "undecided"], Amount] = {}

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if bool(self.weights) == (self.distribution is not None):
            raise ValueError("give either distribution or weights")
        if self.weights and not sum(self.weights.values()):
            raise ValueError("weights: all of them are 0")
        is_gaussian = self.distribution == "gaussian"
        if not is_gaussian and (self.mean is not None or self.std is not None):
            raise ValueError("mean and std belong to `distribution: gaussian`")
        return self


class Curriculum(RecipePart):
    """Steps of prompts whose pass rates move from one mean to another."""

    steps: Steps = 100
    prompts_per_step: Steps = 128
    mean_from: Share = 0.75
    mean_to: Share = 0.25
    std: Positive = 0.2


class Recipe(RecipePart):
    """Which tasks are chosen, how many, and in which order; every part is optional."""

    keep: Keep | None = None
    undecided: Literal["keep", "drop", "top_up"] = "keep"
    drop: tuple[Literal["zero_variance", "unhealthy", "masked", "truncated"], ...] = ()
    outcome: Literal["pass", "reward"] = "pass"
    per_slice: PerSlice | None = None
    target: Target | None = None
    order: Literal["as_input", "random", "easy_to_hard", "hard_to_easy", "curriculum"] | None = None
    curriculum: Curriculum | None = None
    exclude: tuple[Text, ...] = ()
    at_most: Count | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 63)] = 1

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if self.curriculum and self.order not in (None, "curriculum"):
            raise ValueError(f"curriculum: it contradicts `order: {self.order}`")
        if self.is_curriculum and self.target:
            raise ValueError("target: a curriculum has its own distribution; leave out one of them")
        return self

    @property
    def is_curriculum(self) -> bool:
        """Return whether the tasks are ordered in steps."""
        return self.order == "curriculum" or (self.order is None and self.curriculum is not None)

    def excluded_files(self, folder: Path) -> list[Path]:
        """Return the files whose tasks are left out, seen from the folder of the recipe."""
        return [folder / name for name in self.exclude]

    def declaration(self) -> dict[str, Any]:
        """Return the fields of `base_recipes` (models/staging), without the runs."""
        keep, target = self.keep, self.target
        curriculum = self.curriculum or Curriculum()
        is_gaussian = target is not None and target.distribution == "gaussian"
        return {
            "pass_low": keep.pass_rate[0] if keep else None,
            "pass_high": keep.pass_rate[1] if keep else None,
            "decided_on": keep.decided_on if keep else None,
            "undecided": self.undecided,
            "outcome": self.outcome,
            **{f"drops_{rule}": rule in self.drop for rule in DROPS},
            "slice_by": self.per_slice.by if self.per_slice else None,
            "slice_at_most": self.per_slice.at_most if self.per_slice else None,
            "target": (target.distribution or "weights") if target else None,
            "target_mean": 0.5 if target and target.mean is None else target and target.mean,
            "target_std": (target.std or 0.2) if target and is_gaussian else None,
            "task_order": "curriculum" if self.is_curriculum else self.order or "as_input",
            "steps": curriculum.steps,
            "prompts_per_step": curriculum.prompts_per_step,
            "mean_from": curriculum.mean_from,
            "mean_to": curriculum.mean_to,
            "spread": curriculum.std,
            "at_most": self.at_most,
            "seed": self.seed,
            "shares": self._shares(),
        }

    def _shares(self) -> list[dict[str, Any]]:
        slices = self.per_slice.shares if self.per_slice else {}
        bands = self.target.weights if self.target else {}
        return [
            *({"kind": "slice", "name": name, "share": slices[name]} for name in slices),
            *({"kind": "band", "name": name, "share": bands[name]} for name in bands),
        ]
