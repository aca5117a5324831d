"""Validate settings with pydantic, and turn each error into one sentence."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from collector.errors import UsageError

M = TypeVar("M", bound=BaseModel)


def validate_settings(model: type[M], given: dict[str, Any]) -> M:
    """Return the settings as a model; raise UsageError with one line per wrong setting."""
    try:
        return model(**given)
    except ValidationError as error:
        raise UsageError("\n  ".join(problems_of(error, model))) from None


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one sentence per wrong setting, without its value: it may be a secret."""
    sentences: dict[str, str] = {}
    for problem in error.errors(include_input=False, include_url=False):
        # an error about several settings belongs to no single field, and names them itself
        if not problem["loc"]:
            text = problem["msg"].removeprefix("Value error, ")
            sentences.setdefault(text, text)
            continue
        name = str(problem["loc"][0])
        field = model.model_fields.get(name)
        meant = field.description if field and problem["type"] != "value_error" else None
        text = f"must be {meant}" if meant else problem["msg"].removeprefix("Value error, ")
        sentences.setdefault(name, f"{name}: {text}")
    return list(sentences.values())
