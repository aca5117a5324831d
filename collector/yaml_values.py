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
    """A safe loader with the resolvers that NeMo Gym uses."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.split(":")[-1] not in REPLACED]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789."))
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", BOOL, list("tTfF"))


class _Dumper(yaml.SafeDumper):
    """A dumper that quotes every text that `parse`, or YAML 1.1, would read as something else."""


_Dumper.yaml_implicit_resolvers = {
    first: [*resolvers] for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789."))


def dump(value: Any) -> str:
    """Return the YAML text of maps, lists and plain values; `parse` returns the same value."""
    return yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=None,
        allow_unicode=True,
        sort_keys=False,
        width=10_000,
    )


def parse(text: str) -> Any:
    """Return the value of a YAML text; raise ValueError with the position of an error.

    The message does not quote the text, as YAML's own messages do: it may hold secrets.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "unknown position"
        raise ValueError(f"not valid YAML ({where})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError("not valid YAML") from error


def merge(left: Any, right: Any) -> Any:
    """Return two maps merged key by key, at every level; any other left value is replaced."""
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return right
    return left | {
        key: merge(left[key], value) if key in left else value for key, value in right.items()
    }


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value in maps and lists with its dotted path, each map and list once.

    A YAML alias may refer to the same part from many places, even from inside that part.
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
