"""YAML as NeMo Gym reads it: `1e-3` is a number, `on` and `2024-01-01` are text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from collector.errors import FileError, UsageError
from collector.open_files import require_regular_file

FLOAT = re.compile(
    r"""^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?(?:[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)
    |[-+]?\.[0-9_]+(?:[eE][-+]?[0-9]+)?
    |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$""",
    re.VERBOSE,
)
BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
REPLACED = ("float", "bool", "timestamp")
MAX_DEPTH = 100
MAX_VALUES = 100_000
MAX_DIGITS = 1000


class _Loader(yaml.CSafeLoader):
    """A safe loader with the resolvers that NeMo Gym uses."""

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return the number; a long one like `1:1:1` takes the square of its length to read."""
        if len(node.value) > MAX_DIGITS:
            raise yaml.constructor.ConstructorError(problem_mark=node.start_mark)
        return super().construct_yaml_int(node)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.split(":")[-1] not in REPLACED]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
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
        _check_size(text)
        return _load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ValueError(f"not valid YAML ({_place(mark)})") from None


def _load(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506, TID251 - a safe loader, after the check
    except ValueError as error:  # a number like 0x_
        raise ValueError("not valid YAML") from error


def _check_size(text: str) -> None:
    """Refuse what would take the loader much time or memory, or end the process, before it runs."""
    count = 0
    sizes: dict[str | None, int] = {}
    around: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in around):
                raise ValueError(f"*{event.anchor} contains itself ({_place(event.start_mark)})")
            count += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.NodeEvent):
            around.append((event.anchor, count))
            count += 1
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionEndEvent)):
            anchor, before = around.pop()
            sizes[anchor] = count - before
        if len(around) > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} levels deep ({_place(event.start_mark)})")
        if count > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES:,} values, with those that aliases repeat")


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark else "unknown position"


def read_file(path: Path, kind: str) -> Any:
    """Return the value of a YAML file; raise FileError or UsageError, which call it a `kind`."""
    try:
        return parse(read_text(path, kind))
    except ValueError as error:
        raise UsageError(f"{path} is not a {kind}: {error}") from error


def read_text(path: Path, kind: str) -> str:
    """Return the text of a file that a person wrote; raise FileError or UsageError."""
    try:
        require_regular_file(path, kind)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot read the {kind} at {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a {kind}: it is not UTF-8 text") from error


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
