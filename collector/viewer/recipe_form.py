"""The rules of a recipe as the fields of a form; the address of the Curate page holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from collector.curating.recipe import BANDS, Recipe
from collector.curating.recipe_files import parse_recipe, recipe_text
from collector.errors import UsageError
from collector.yaml_values import dump

FILE_NAME = "recipe.yml"
MOST_CHARACTERS = 100
WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
WEIGHTS = "weights"
CURRICULUM = {
    "steps": "100",
    "prompts_per_step": "128",
    "mean_from": "0.75",
    "mean_to": "0.25",
    "std": "0.2",
}
DEFAULTS = {
    "keep.low": "0",
    "keep.high": "1",
    "keep.decided_on": "interval",
    "undecided": "keep",
    "outcome": "pass",
    "per_slice.by": "",
    "per_slice.at_most": "",
    "target": "",
    "target.mean": "0.5",
    "target.std": "0.2",
    **{f"target.weights.{band}": "1" for band in BANDS},
    "order": "as_input",
    **{f"curriculum.{name}": value for name, value in CURRICULUM.items()},
    "at_most": "",
    "seed": "1",
}
"""The fields that have one value, with what they say if the address does not name them."""
USUAL_RULES = {
    "keep.low": "0.1",
    "keep.high": "0.9",
    "drop": ["zero_variance", "unhealthy", "masked", "truncated"],
}


@dataclass(frozen=True)
class RecipeForm:
    """What the fields say, and the recipe that this means."""

    values: dict[str, str]
    drops: list[str]
    text: str
    """The recipe as YAML."""
    recipe: Recipe | None
    problem: str
    """Why the fields are not a recipe."""

    @property
    def has_rules(self) -> bool:
        """Tell whether any rule is set."""
        return self.recipe != Recipe()


def read_form(parameters: QueryParams) -> RecipeForm:
    """Return the fields that an address holds, and the recipe or why there is none."""
    values = {
        name: parameters.get(name, default).strip() or default for name, default in DEFAULTS.items()
    }
    drops = list(dict.fromkeys(parameters.getlist("drop")))
    text = dump(recipe_content(values, drops))
    try:
        recipe = parse_recipe(text, shown=FILE_NAME)
    except UsageError as error:
        return RecipeForm(values, drops, text, None, str(error))
    return RecipeForm(values, drops, recipe_text(recipe), recipe, "")


def recipe_content(values: Mapping[str, str], drops: list[str]) -> dict[str, Any]:
    """Return the content of the recipe file that the fields mean; it may be wrong."""
    content = {
        "keep": _keep(values),
        "undecided": _other(values, "undecided"),
        "drop": [rule[:MOST_CHARACTERS] for rule in drops],
        "outcome": _other(values, "outcome"),
        "per_slice": _per_slice(values),
        "target": _target(values),
        "order": _other(values, "order"),
        "curriculum": _curriculum(values),
        "at_most": _number(values["at_most"]),
        "seed": _number(values["seed"]),
    }
    return {name: part for name, part in content.items() if part not in (None, "", {}, [])}


def _keep(values: Mapping[str, str]) -> dict[str, Any]:
    bounds = [_number(values["keep.low"]), _number(values["keep.high"])]
    decided_on = _other(values, "keep.decided_on")
    if bounds == [0, 1] and not decided_on:
        return {}
    return {"pass_rate": bounds, **({"decided_on": decided_on} if decided_on else {})}


def _per_slice(values: Mapping[str, str]) -> dict[str, Any]:
    by, at_most = values["per_slice.by"], _number(values["per_slice.at_most"])
    return {"by": by, "at_most": at_most} if by and at_most is not None else {}


def _target(values: Mapping[str, str]) -> dict[str, Any]:
    target = values["target"][:MOST_CHARACTERS]
    if target == WEIGHTS:
        return {WEIGHTS: {band: _number(values[f"target.weights.{band}"]) for band in BANDS}}
    if target == "gaussian":
        numbers = {name: _number(values[f"target.{name}"]) for name in ("mean", "std")}
        return {"distribution": target, **numbers}
    return {"distribution": target} if target else {}


def _curriculum(values: Mapping[str, str]) -> dict[str, Any]:
    if values["order"] != "curriculum":
        return {}
    given = {name: values[f"curriculum.{name}"] for name in CURRICULUM}
    return {name: _number(text) for name, text in given.items() if text != CURRICULUM[name]}


def _other(values: Mapping[str, str], name: str) -> str:
    """Return the value of a field, or an empty text if it is the default."""
    return "" if values[name] == DEFAULTS[name] else values[name][:MOST_CHARACTERS]


def _number(text: str) -> int | float | str | None:
    """Return the number that a text means, or the text: the recipe then says what is wrong."""
    if not text:
        return None
    if WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text[:MOST_CHARACTERS]
