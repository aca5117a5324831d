"""YAML as NeMo Gym reads it: `1e-3` is a number, `on` and `2024-01-01` are text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

FLOAT = re.compile(
    r"""^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?(?:[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)
    |[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$""",
    re.VERBOSE,
)
BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
REPLACED = ("float", "bool", "timestamp")


class _Loader(yaml.CSafeLoader):
    """A safe loader with resolvers of its own."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.split(":")[-1] not in REPLACED]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789."))
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", BOOL, list("tTfF"))


def parse(text: str) -> Any:
    """Return what the text says, or raise ValueError, which names a place but no content.

    The text may hold secrets, and YAML's own messages quote it.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "unknown place"
        raise ValueError(f"not YAML ({where})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError("not YAML that can be read") from error


def merged(left: Any, right: Any) -> Any:
    """Merge maps into each other, key by key; anything else is replaced."""
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return right
    return left | {
        key: merged(left[key], value) if key in left else value for key, value in right.items()
    }


def walked(value: Any) -> Iterator[tuple[str, Any]]:
    """Return everything in maps and lists with its dotted place, each part once.

    YAML may refer to a part from many places, even from inside of it.
    """
    stack: list[tuple[str, Any]] = [("", value)]
    seen: set[int] = set()
    while stack:
        path, item = stack.pop()
        if isinstance(item, (dict, list)):
            if id(item) in seen:
                continue
            seen.add(id(item))
            pairs = item.items() if isinstance(item, dict) else ((None, part) for part in item)
            stack += [(path if key is None else f"{path}{key}.", part) for key, part in pairs]
        yield path, item
