"""What several commands share: options, and printing data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from collector.errors import UsageError
from collector.overrides import ANY, FLAG_ONLY, MAP, Named, Override

if TYPE_CHECKING:
    from pydantic import BaseModel

Warehouse = Annotated[
    Path,
    typer.Option(
        "--warehouse",
        "-w",
        envvar="SPOTTER_WAREHOUSE",
        readable=False,
        help="The DuckDB file with the marts.",
    ),
]
# what was printed as JSON so far: an error is told there only if nothing else was
PRINTED: list[object] = []
AgentUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-url",
        metavar="NAME=URL",
        help="Where an agent is, instead of asking the head server; may be repeated.",
    ),
]
ConfigPaths = Annotated[
    list[str] | None,
    typer.Argument(show_default=False, help="Config files, merged left to right."),
]
Configs = Annotated[
    list[str] | None,
    typer.Option("--config", "-c", help="A config file; later ones are merged over earlier ones."),
    Named("config_paths"),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Add or replace a setting; KEY may be dotted."),
    Named(ANY),
]
HeadHost = Annotated[str, typer.Option(help="Host of the head server."), Named("head_server.host")]
HeadPort = Annotated[
    int,
    typer.Option(min=1, max=65535, help="Port of the head server."),
    Named("head_server.port"),
]
RequestTimeout = Annotated[
    float, typer.Option(help="Seconds until a request is given up; rollouts may be long.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY]
HEALTH = "Spotter's own findings are in the mart rollout_health"
UNUSED = {
    "disable_health_check": Override("", unused=HEALTH),
    "health_check_workers": Override("", unused=HEALTH),
    "health_check_ignored_checks": Override("", unused=HEALTH),
    "verbose": Override("", unused="failures are always written down in full"),
    "global_aiohttp_connector_limit": Override("", unused="num_samples_in_parallel is the limit"),
    "global_aiohttp_connector_limit_per_host": Override(
        "", unused="num_samples_in_parallel is the limit"
    ),
}


def settings_given(
    command: Callable[..., None], values: Mapping[str, Any], settings: type[BaseModel]
) -> dict[str, Any]:
    """Return the options that were given, under their own names, as far as the settings know them.

    An option that takes a map may be repeated, and is read as YAML.
    """
    hints = get_type_hints(command, include_extras=True)
    given = {
        name: values[name]
        for name in settings.model_fields
        if name in values and values[name] is not None
    }
    maps = [name for name in given if MAP in getattr(hints[name], "__metadata__", ())]
    return given | {name: _parsed(name, given[name]) for name in maps}


def _parsed(name: str, texts: list[str]) -> Any:
    """Read values as YAML; maps that are given one after the other are merged."""
    from collector import yaml_values

    result: Any = None
    for text in texts:
        try:
            result = yaml_values.merge(result, yaml_values.parse(text))
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from error
    return result


def parsed_urls(texts: list[str]) -> dict[str, str]:
    """Read `NAME=URL` pairs; what is wrong with one is not quoted, it may hold a password."""
    urls: dict[str, str] = {}
    for text in texts:
        name, equals, url = text.partition("=")
        if not (name and equals and url):
            raise UsageError("--agent-url: write it like my_agent=http://127.0.0.1:8000")
        urls[name] = url
    return urls


def print_json(data: object) -> None:
    """Print data for scripts."""
    import json

    PRINTED.append(data)
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        text = json.dumps(data, indent=2)  # half of a surrogate pair cannot be encoded
    print_text(text)


def print_text(text: str) -> None:
    """Print what a command found out."""
    from collector.terminal import write_output

    write_output(f"{text}\n")
