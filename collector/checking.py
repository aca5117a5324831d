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
        problems = dict.fromkeys(
            f"{problem['loc'][0]}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise UsageError("\n  ".join(problems)) from None
