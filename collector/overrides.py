"""NeMo Gym's way to give settings, `+key=value` and `++key=value`, turned into ordinary flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.errors import UsageError


@dataclass(frozen=True)
class Override:
    """The flag that a key stands for; a switch takes no value."""

    flag: str
    is_switch: bool = False


def to_flags(arguments: Sequence[str], known: Mapping[str, Override]) -> list[str]:
    """Replace each override among the arguments by its flag and leave the rest alone."""
    flags: list[str] = []
    for argument in arguments:
        flags += _flag(argument, known) if argument.startswith("+") else [argument]
    return flags


def _flag(argument: str, known: Mapping[str, Override]) -> list[str]:
    key, equals, text = argument.lstrip("+").partition("=")
    override = known.get(key)
    if not equals or override is None:
        raise UsageError(
            f"unknown override {argument}\n  known here: "
            + ", ".join(f"+{name}=…" for name in sorted(known))
        )
    if not override.is_switch:
        # a path is text, also where YAML would see a comment or a number; quotes come off
        is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
        return [override.flag, text[1:-1] if is_quoted else text]
    value = _value(text)
    if not isinstance(value, bool):
        raise UsageError(f"{argument}: {key} is true or false")
    return [override.flag] if value else []


def _value(text: str) -> object:
    import yaml  # only for overrides: most calls have none

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
