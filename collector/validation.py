"""pydantic at the boundary: wrong settings become one sentence each."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from collector.errors import UsageError

M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], given: dict[str, Any]) -> M:
    """Build settings, or say which of them are wrong and why."""
    try:
        return model(**given)
    except ValidationError as error:
        raise UsageError("\n  ".join(problems_of(error, model))) from None


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Say what is wrong with each setting, once, and quote no value: it may be a secret."""
    told: dict[str, str] = {}
    for problem in error.errors(include_input=False, include_url=False):
        # a contradiction between settings is of no single one, and names them itself
        if not problem["loc"]:
            text = problem["msg"].removeprefix("Value error, ")
            told.setdefault(text, text)
            continue
        name = str(problem["loc"][0])
        field = model.model_fields.get(name)
        meant = field.description if field and problem["type"] != "value_error" else None
        text = f"must be {meant}" if meant else problem["msg"].removeprefix("Value error, ")
        told.setdefault(name, f"{name}: {text}")
    return list(told.values())
