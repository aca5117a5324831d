"""A mapping of home-made JSON lines: which field is the task, the reward, the messages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from collector import yaml_values
from collector.errors import UsageError
from collector.importing.json_paths import JsonPath, parse_path
from collector.suggestions import suggestion

HINT = "  docs/importing.md describes mappings"


def _path(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("write the path of a field, like usage.input")
    return parse_path(value)


def _paths(value: Any) -> Any:
    """Return the paths of several fields by name; a list names fields that keep their names."""
    if isinstance(value, list):
        value = {str(name): name for name in value}
    if not isinstance(value, dict):
        raise ValueError("write a list of fields, or a map of names and fields")
    return {str(name): _path(one) for name, one in value.items()}


Field = Annotated[JsonPath, BeforeValidator(_path)]
Fields = Annotated[dict[str, JsonPath], BeforeValidator(_paths)]


class Mapping(BaseModel):
    """Where the rows of a file have what a rollout needs."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    reward: Field
    messages: Field | None = None
    """The whole conversation, as chat messages: what precedes the first reply is the question."""
    input: Field | None = None
    output: Field | None = None
    answer: Field | None = None
    task: Field | None = None
    """The name of the task; without it, the question and the answer tell tasks apart."""
    rollout: Field | None = None
    """The number of the attempt; without it, the order of the file counts."""
    input_tokens: Field | None = None
    output_tokens: Field | None = None
    error: Field | None = None
    """Why the attempt failed: rows in which it has a value are failures."""
    model: Field | None = None
    agent: Field | None = None
    metrics: Fields = {}
    framework: str = "mapping"

    @model_validator(mode="after")
    def _require_a_question(self) -> Self:
        if (self.messages is None) == (self.input is None):
            raise ValueError("give either messages, or input and output")
        return self

    def paths(self) -> dict[str, JsonPath]:
        """Return all paths by the names of what they lead to."""
        own = {name: value for name, value in self if isinstance(value, JsonPath)}
        return {**own, **{f"metrics.{name}": path for name, path in self.metrics.items()}}


def read_mapping(path: Path) -> Mapping:
    """Read a YAML file with a mapping; raise FileError or UsageError if it is wrong."""
    content = yaml_values.read_file(path, "mapping")
    if not isinstance(content, dict):
        raise UsageError(f"{path} is not a mapping: it must have names and fields\n{HINT}")
    try:
        return Mapping.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{path}: {_problem(error)}\n{HINT}") from None


def _problem(error: ValidationError) -> str:
    problems = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    first = problems[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"unknown name {name}{suggestion(name, list(Mapping.model_fields))}"
    if first["type"] == "missing":
        return f"{name} is missing"
    text = first["msg"].removeprefix("Value error, ")
    return f"{name}: {text}" if name else text
