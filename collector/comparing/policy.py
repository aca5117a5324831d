"""Read the policy of a gate: rules that a candidate must meet, and waivers."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from collector import yaml_values
from collector.comparing.results import SCORES
from collector.errors import UsageError
from collector.suggestions import suggestion, unknown_name

SCORE_LIMITS = ("max_drop", "max_relative_drop", "min_value")
RUN_LIMITS = ("min_clean_rate", "max_token_ratio", "max_cost_ratio")
HINT = "  docs/comparing.md describes policies"


def _date_only(value: Any) -> Any:
    """Refuse numbers and times, which pydantic would turn into some date."""
    if isinstance(value, datetime) or not isinstance(value, (date, str)):
        raise ValueError("write a date like 2027-01-31")
    return value


def _slice_text(value: Any) -> Any:
    """Return the value of a slice as the marts write it: YAML reads some texts as numbers."""
    if not isinstance(value, dict):
        return value
    return {
        name: str(part).lower() if isinstance(part, bool) else str(part)
        for name, part in value.items()
    }


Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]


class Rule(BaseModel):
    """Limits for one score and slice, or for the whole run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Text | None = None
    tier: Literal["critical", "advisory"] = "critical"
    score: str | None = None
    slice: Annotated[dict[str, str], BeforeValidator(_slice_text)] = {}
    max_drop: Amount | None = None
    max_relative_drop: Share | None = None
    min_value: Number | None = None
    min_clean_rate: Share | None = None
    max_token_ratio: Amount | None = None
    max_cost_ratio: Amount | None = None

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        if not self.limits(*SCORE_LIMITS, *RUN_LIMITS):
            raise ValueError(f"give one of {', '.join((*SCORE_LIMITS, *RUN_LIMITS))}")
        if len(self.slice) > 1:
            raise ValueError("slice: name one field and one value, like {category: email}")
        if (self.slice or self.score) and self.limits(*RUN_LIMITS):
            raise ValueError(f"score and slice do not go with {', '.join(RUN_LIMITS)}")
        if self.score is not None and self.score not in SCORES:
            raise ValueError(f"score: {unknown_name(self.score, SCORES)}")
        return self

    def limits(self, *names: str) -> dict[str, float]:
        """Return the limits among these names that the rule sets."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def label(self) -> str:
        """Return the name, or what the rule is about."""
        if self.name:
            return self.name
        parts = [f"{field}={value}" for field, value in self.slice.items()]
        limits = self.limits(*SCORE_LIMITS, *RUN_LIMITS)
        score = [self.score_name] if self.limits(*SCORE_LIMITS) else []
        return " ".join([*score, *parts, *limits])

    @property
    def score_name(self) -> str:
        """Return the score, mean reward by default."""
        return self.score or SCORES[0]


class Waiver(BaseModel):
    """Leave to miss a rule, for a reason and until the end of a day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Text
    reason: Text
    until: Annotated[date, BeforeValidator(_date_only)]


class Policy(BaseModel):
    """The rules of a gate and the waivers for them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]
    waivers: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _refuse_unclear_names(self) -> Self:
        names = [rule.label for rule in self.rules]
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"two rules are called {repeated[0]!r}: give each its own name")
        for waiver in self.waivers:
            if waiver.rule not in names:
                raise ValueError(f"waivers: the rule {unknown_name(waiver.rule, names)}")
        return self


def read_policy(path: Path) -> Policy:
    """Read a YAML file with a policy; raise FileError or UsageError if it is wrong."""
    content = yaml_values.read_file(path, "policy")
    if not isinstance(content, dict):
        raise UsageError(f"{path} is not a policy: it has no rules\n{HINT}")
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{path} is not a policy: {_problem(error)}\n{HINT}") from None


def _problem(error: ValidationError) -> str:
    """Return the first problem as a sentence, with a suggestion for an unknown name."""
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        part = where[0] if len(where) > 1 else ""
        models: dict[str, type[BaseModel]] = {"rules": Rule, "waivers": Waiver}
        known = models.get(part, Policy).model_fields
        return f"{'.'.join(where)}: unknown{suggestion(where[-1], known)}"
    text = str(first["msg"]).removeprefix("Value error, ")
    return f"{'.'.join(where)}: {text}" if where else text
