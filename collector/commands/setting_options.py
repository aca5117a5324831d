"""Give a command one option per field of its settings class.

A command takes checked settings: `def aggregate(settings: AggregateSettings, *, …)`. The field's
type, default and `typer.Option` make the option, so that a setting is declared once.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from collector.errors import UsageError
from collector.overrides import MAP, parse_map

if TYPE_CHECKING:
    from pydantic import BaseModel

Command = Callable[..., None]
SCALARS = (bool, int, float, Path)
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


@dataclass(frozen=True, eq=False)
class _SettingOption:
    """The option of one field."""

    name: str
    type: Any
    default: Any
    notes: tuple[Any, ...]

    @property
    def parameter(self) -> inspect.Parameter:
        return inspect.Parameter(
            self.name,
            KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[self.type, *self.notes],
        )

    def parse(self, value: Any) -> Any:
        """Return the value for the settings class, which checks it."""
        if MAP not in self.notes:
            return value
        try:
            return parse_map(value)
        except ValueError as error:
            raise UsageError(f"{self.name}: {error}") from error


def with_setting_options(command: Command) -> Command:
    """Return the command with the options of the settings class it takes, if it takes one."""
    hints = _type_hints(command)
    settings_name = next(
        (name for name, hint in hints.items() if hasattr(hint, "model_fields")), None
    )
    if settings_name is None:
        return command
    settings = hints[settings_name]
    options = [_setting_option(name, hint, settings) for name, hint in _fields(settings).items()]

    def run(**values: Any) -> None:
        from collector.validation import validate_settings

        texts = {option: values.pop(option.name) for option in options}
        given = {
            option.name: option.parse(text) for option, text in texts.items() if text is not None
        }
        command(**{settings_name: validate_settings(settings, given)}, **values)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == settings_name:
            parameters += [option.parameter for option in options]
        else:
            parameters.append(parameter.replace(kind=KEYWORD_ONLY, annotation=hints[name]))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = command.__doc__
    return run


def _type_hints(command: Command) -> dict[str, Any]:
    """Return the annotations of a command.

    A command imports its settings class for the type checker only: importing pydantic takes longer
    than showing the list of commands.
    """
    try:
        return get_type_hints(command, include_extras=True)
    except NameError:
        from collector.collection import settings

        return get_type_hints(command, localns=vars(settings), include_extras=True)


def _fields(settings: type[BaseModel]) -> dict[str, Any]:
    """Return the annotations of the fields: the class's own first, then those of its bases."""
    hints = get_type_hints(settings, include_extras=True)
    names = (name for base in settings.__mro__ for name in inspect.get_annotations(base))
    return {name: hints[name] for name in names if name in settings.model_fields}


def _setting_option(name: str, hint: Any, settings: type[BaseModel]) -> _SettingOption:
    field = settings.model_fields[name]
    kind, *notes = get_args(hint)
    is_repeatable = MAP in notes or get_origin(kind) in (tuple, dict)
    option_type = list[str] if is_repeatable else _scalar(kind)
    default = inspect.Parameter.empty if field.is_required() else field.default
    if is_repeatable:
        default = [json.dumps(field.default)] if field.default else None
    return _SettingOption(
        name,
        option_type | None if default is None else option_type,
        default,
        tuple(_with_flag(note, name) if option_type is bool else note for note in notes),
    )


def _with_flag(note: Any, name: str) -> Any:
    """Name the flag of a switch: without a name, typer adds a second flag that turns it off."""
    if not isinstance(note, OptionInfo) or note.default is not ...:
        return note
    option = copy(note)
    # in an annotation, typer takes the default for the first flag
    option.default = f"--{name.replace('_', '-')}"
    return option


def _scalar(kind: Any) -> Any:
    """Return the type that the command line checks; other values are texts for the settings."""
    if get_origin(kind) is Annotated:
        return _scalar(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        rest = [part for part in get_args(kind) if part is not NoneType]
        return _scalar(rest[0]) if len(rest) == 1 else str
    return kind if kind in SCALARS else str
