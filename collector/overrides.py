"""Turn NeMo Gym's `+key=value` and `++key=value` into ordinary flags.

Flags are the one way into a command. An override's text goes into its flag as it is, and is parsed
there, once. Only switches and lists are parsed here, because they decide how many flags there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

from collector.errors import UsageError
from collector.suggestions import suggestion

UNSET = ("null", "~")
ANY = "*"
"""The key that stands for every unknown key: settings of a config."""
PATH_END = "\0"
"""Ends each part of a dotted key in a flag's text. No argument of a process can contain it."""


@dataclass(frozen=True)
class OverrideName:
    """Notes in an option's annotation the key of its override, if that is not its own name."""

    key: str


@dataclass(frozen=True)
class OptionNote:
    """Notes something about an option in its annotation; compare with the constants."""

    text: str


MAP = OptionNote("takes YAML; several maps are merged, and dotted keys set a part")
WITH_SERVE = OptionNote("has an override only with --serve")
FLAG_ONLY = OptionNote("has no override")


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
    """Why the key has no effect here: it is accepted, and a message gives the reason."""
    refused: str = ""
    """Why Spotter refuses the key, although NeMo Gym knows it."""


def declared_overrides(
    command: Callable[..., None], *, with_serve: bool = True
) -> dict[str, Override]:
    """Return the overrides of a command by key: one per option, unless its annotation has none."""
    from typer.models import OptionInfo

    overrides: dict[str, Override] = {}
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
        key = next((note.key for note in notes if isinstance(note, OverrideName)), name)
        overrides[key] = Override(
            flag,
            is_switch=kind is bool,
            is_map=MAP in notes,
            is_list=MAP not in notes and kind == list[str] | None,
            off=off or None,
        )
    return overrides


def rename_flags(arguments: Iterable[str], keys: Mapping[str, str]) -> Iterator[str]:
    """Replace NeMo Gym's flags, with their values, by the overrides that have these keys."""
    words = iter(arguments)
    for word in words:
        flag, equals, text = word.partition("=")
        if flag not in keys:
            yield word
            continue
        value = text if equals else next(words, None)
        if value is None:
            raise UsageError(f"{flag} needs a value")
        yield f"+{keys[flag]}={value}"


def to_flags(
    arguments: Sequence[str],
    known: Mapping[str, Override],
    say: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Replace each override among the arguments by its flag; return other arguments unchanged.

    Overrides without effect are left out, and `say` gets one line about them.
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
        reasons = "; ".join(f"{key} ({reason})" for key, reason in unused.items())
        say(f"note: without effect here: {reasons}")
    return flags


def _key(argument: str) -> str:
    return argument.lstrip("+").partition("=")[0]


def _refuse_forgotten_plus(argument: str, known: Mapping[str, Override]) -> None:
    key, equals, _ = argument.partition("=")
    if equals and key != ANY and (key in known or key.split(".")[0] in known):
        raise UsageError(f"overrides begin with a plus sign: did you mean +{key}=…?")


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
        known_keys = ", ".join(f"+{name}=…" for name in names)
        # the message does not quote the value: it may be a secret
        raise UsageError(f"unknown override +{key}{guess}\n  known here: {known_keys}")
    if override.refused:
        raise UsageError(f"+{key} cannot be followed here: {override.refused}")
    if override.is_switch:
        is_on = _parse_switch(key, text)
        return [override.flag] if is_on else [override.off] if override.off else []
    if override.is_list:
        return _flag_per_item(override.flag, text)
    if path:
        return [override.flag, PATH_END.join([*path, text])]
    if text in UNSET:
        return []
    # the text of a path stays as it is, even where YAML would see a comment; quotes come off
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return [override.flag, text[1:-1] if is_quoted else text]


def _parse_switch(key: str, text: str) -> bool:
    value = parse_or_keep(text)
    if not isinstance(value, bool):
        raise UsageError(f"+{key} is true or false")
    return value


def _flag_per_item(flag: str, text: str) -> list[str]:
    value = parse_or_keep(text)
    items = value if isinstance(value, list) else [value]
    return [word for item in items if item is not None for word in (flag, str(item))]


def parse_map(texts: Sequence[str]) -> object:
    """Merge the texts of a flag that takes YAML; raise ValueError if one is not YAML.

    The text of a dotted key holds its path and its value, separated by PATH_END.
    """
    from collector import yaml_values

    result: object = None
    for text in texts:
        *path, last = text.split(PATH_END)
        value = parse_or_keep(last) if path else yaml_values.parse(last)
        for part in reversed(path):
            value = {part: value}
        result = yaml_values.merge(result, value)
    return result


def parse_or_keep(text: str) -> object:
    """Return the value of a YAML text, or the text itself if it is not YAML."""
    from collector import yaml_values  # only for overrides: most calls have none

    try:
        return yaml_values.parse(text)
    except ValueError:
        return text
