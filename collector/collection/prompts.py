"""Prompt templates: a YAML file with `user` and perhaps `system`, filled from a row's fields."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from collector import yaml_values
from collector.errors import UsageError
from collector.validation import validate_settings

Row = dict[str, Any]


def _valid_template(text: str) -> str:
    for _, name, _, _ in string.Formatter().parse(text):
        if name is not None and (not name or name[0].isdigit()):
            raise ValueError(f"{{{name}}} does not name a field of the row")
    return text


Template = Annotated[str, AfterValidator(_valid_template)]


class Prompt(BaseModel):
    """The templates of one prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: Template
    system: Template | None = None

    def messages(self, row: Row) -> list[Row]:
        """Fill the templates; raise ValueError with what is missing."""
        templates = [("system", self.system), ("user", self.user)]
        return [
            {"role": role, "content": _fill(template, row)}
            for role, template in templates
            if template is not None
        ]


def load_prompt(path: Path) -> Prompt:
    """Read the templates from a YAML file."""
    content = yaml_values.read_file(path, "prompt_config")
    if not isinstance(content, dict):
        raise UsageError(f"prompt_config {path}: not a map with `user` and perhaps `system`")
    try:
        return validate_settings(Prompt, {str(name): text for name, text in content.items()})
    except UsageError as error:
        raise UsageError(f"prompt_config {path}: {error}") from error


def _fill(template: str, row: Row) -> str:
    try:
        return template.format_map(row)
    except KeyError as error:
        raise ValueError(f"the prompt's field {error} is missing") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"the prompt cannot be filled: {error}") from error
