"""NeMo Gym's way to give settings, `+key=value` and `++key=value`, turned into ordinary flags."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

from collector.errors import UsageError
from collector.suggestions import suggestion

UNSET = ("null", "~")
ANY = "*"
"""The key that stands for all that are not known by name: settings of a config."""


@dataclass(frozen=True)
class Named:
    """Notes in an option's annotation what NeMo Gym calls the setting; by default, its own name."""

    name: str


@dataclass(frozen=True)
class Kind:
    """Notes in an option's annotation what its override takes, or when there is one."""

    text: str


MAP = Kind("a YAML map; dotted keys set a part of it")
WITH_SERVE = Kind("only with --serve")
FLAG_ONLY = Kind("none: the option is only a flag")


@dataclass(frozen=True)
class Override:
    """The flag that a key stands for; a switch takes no value, a map also takes dotted keys."""

    flag: str
    is_switch: bool = False
    is_map: bool = False
    is_list: bool = False
    """Whether each item of a list becomes a flag."""
    off: str | None = None
    """The flag that turns a switch off."""
    unused: str = ""
    """Why the key means nothing here: it is accepted, and said to be without effect."""
    refused: str = ""
    """Why the key cannot be followed here, though NeMo Gym knows it."""


def declared_overrides(
    command: Callable[..., None], *, with_serve: bool = True
) -> dict[str, Override]:
    """Return the overrides of a command: every option has one, as its annotation says."""
    from typer.models import OptionInfo

    found: dict[str, Override] = {}
    for name, hint in get_type_hints(command, include_extras=True).items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        option = next((note for note in notes if isinstance(note, OptionInfo)), None)
        if option is None or option.hidden or FLAG_ONLY in notes:
            continue
        if WITH_SERVE in notes and not with_serve:
            continue
        # in an annotation, typer takes the first flag for a default until it makes the command
        words = [option.default, *(option.param_decls or ())]
        flags = [word for word in words if isinstance(word, str) and word.startswith("--")]
        flag, _, off = (flags[0] if flags else f"--{name.replace('_', '-')}").partition("/")
        key = next((note.name for note in notes if isinstance(note, Named)), name)
        found[key] = Override(
            flag,
            is_switch=kind is bool,
            is_map=MAP in notes,
            is_list=MAP not in notes and kind == list[str] | None,
            off=off or None,
        )
    return found


def to_flags(
    arguments: Sequence[str],
    known: Mapping[str, Override],
    say: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Replace each override among the arguments by its flag and leave the rest alone.

    Overrides that mean nothing here are left out, and said so in one line.
    """
    flags: list[str] = []
    unused: dict[str, str] = {}
    for argument in arguments:
        _refuse_forgotten_plus(argument, known)
        override = known.get(_key(argument)) if argument.startswith("+") else None
        if override and override.unused:
            unused[_key(argument)] = override.unused
        else:
            flags += _flag(argument, known) if argument.startswith("+") else [argument]
    if unused:
        told = "; ".join(f"{key} ({reason})" for key, reason in unused.items())
        say(f"note: without effect here: {told}")
    return flags


def _key(argument: str) -> str:
    return argument.lstrip("+").partition("=")[0]


def _refuse_forgotten_plus(argument: str, known: Mapping[str, Override]) -> None:
    key, equals, _ = argument.partition("=")
    if equals and key != ANY and (key in known or key.split(".")[0] in known):
        raise UsageError(f"did you mean +{key}=…?")


def _flag(argument: str, known: Mapping[str, Override]) -> list[str]:
    key, equals, text = argument.lstrip("+").partition("=")
    name, *path = [key] if key in known else key.split(".")
    override = known.get(name)
    if equals and key and override is None and ANY in known:
        return [known[ANY].flag, f"{key}={text}"]
    if not equals or override is None or (path and not (override.is_map and all(path))):
        names = sorted(
            name
            for name, override in known.items()
            if name != ANY and not (override.unused or override.refused)
        )
        guess = suggestion(key, names, form="+{}=…")
        listed = ", ".join(f"+{name}=…" for name in names)
        # its value may be a secret
        raise UsageError(f"unknown override +{key}{guess}\n  known here: {listed}")
    if override.refused:
        raise UsageError(f"+{key} cannot be followed here: {override.refused}")
    if override.is_switch:
        is_on = _switch(key, text)
        return [override.flag] if is_on else [override.off] if override.off else []
    if override.is_list:
        return _listed(override.flag, text)
    if path:
        return [override.flag, _nested(path, text)]
    if text in UNSET:
        return []
    # a path is text, also where YAML would see a comment or a number; quotes come off
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return [override.flag, text[1:-1] if is_quoted else text]


def _switch(key: str, text: str) -> bool:
    value = _value(text)
    if not isinstance(value, bool):
        raise UsageError(f"+{key} is true or false")
    return value


def _listed(flag: str, text: str) -> list[str]:
    value = _value(text)
    items = value if isinstance(value, list) else [value]
    return [word for item in items if item is not None for word in (flag, str(item))]


def _nested(path: list[str], text: str) -> str:
    value = _value(text)
    for part in reversed(path):
        value = {part: value}
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{'.'.join(path)}: this cannot be sent as JSON: {error}") from error


def _value(text: str) -> object:
    from collector import yaml_values  # only for overrides: most calls have none

    try:
        return yaml_values.parse(text)
    except ValueError:
        return text
