"""Read a recipe from a YAML file, and say in which line it is wrong."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from collector import yaml_values
from collector.curating.recipe import Recipe
from collector.errors import UsageError
from collector.suggestions import suggestion

HINT = "  docs/curating.md describes recipes"
EMPTY = "# no rules: every task with a result, in the order of the input\n"
KINDS = {
    "missing": "it is missing",
    "tuple_type": "write a list, like [a, b]",
    "dict_type": "write a map, like {name: value}",
    "model_type": "write a map, like {name: value}",
}
Place = tuple[str, ...]


def read_recipe(path: Path) -> Recipe:
    """Read a YAML file with a recipe; raise FileError or UsageError if it is wrong."""
    return parse_recipe(yaml_values.read_text(path, "recipe"), shown=str(path))


def parse_recipe(text: str, *, shown: str) -> Recipe:
    """Return the recipe of a YAML text; raise UsageError that names the line of the first error."""
    try:
        content = yaml_values.parse(text)
    except ValueError as error:
        raise UsageError(f"{shown} is not a recipe: {error}\n{HINT}") from error
    if content is None:
        return Recipe()
    if not isinstance(content, dict):
        raise UsageError(f"{shown} is not a recipe: it must be a map of names and values\n{HINT}")
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        # a name that is misspelled is missing elsewhere: the misspelled one comes first
        problems = error.errors(include_url=False)
        first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
        where = tuple(str(part) for part in first["loc"] if part != "[key]")
        line = _line_of(text, where)
        raise UsageError(f"{shown}:{line}: {_problem(first, where)}\n{HINT}") from None


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as YAML; `parse_recipe` returns the same recipe."""
    content = recipe.model_dump(mode="json", exclude_defaults=True)
    return yaml_values.dump(content) if content else EMPTY


def _line_of(text: str, where: Place) -> int:
    """Return the line of a value, or of the nearest part around it."""
    lines = dict(_lines(yaml.compose(text, Loader=yaml.CSafeLoader), ()))
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


def _lines(node: yaml.Node | None, where: Place) -> Iterator[tuple[Place, int]]:
    if node is None:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            part = (*where, str(key.value))
            yield part, key.start_mark.line + 1
            yield from _lines(value, part)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            part = (*where, str(number))
            yield part, value.start_mark.line + 1
            yield from _lines(value, part)


def _problem(error: Any, where: Place) -> str:
    """Return an error of pydantic as a sentence, with a suggestion for an unknown name."""
    name = ".".join(where)
    if error["type"] == "extra_forbidden":
        known = _fields_at(Recipe, where[:-1])
        return f"{name}: unknown{suggestion(where[-1], known)} (there are: {', '.join(known)})"
    if error["type"] == "literal_error":
        choices = str(error["ctx"]["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        given = str(error["input"])
        return f"{name}: unknown{suggestion(given, choices)} (there are: {', '.join(choices)})"
    text = str(error["msg"]).removeprefix("Value error, ").replace("Input should", "the value must")
    text = KINDS.get(error["type"], text)
    return f"{name}: {text[:1].lower()}{text[1:]}" if where else text


def _fields_at(model: type[BaseModel], where: Place) -> list[str]:
    """Return the names that a part of a recipe may have."""
    for part in where:
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field else None
        if inner is None:
            break
        model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if isinstance(annotation, types.UnionType) or get_origin(annotation) not in (None, Literal):
        return next(filter(None, map(_model_in, get_args(annotation))), None)
    return None
