"""What several commands share: options, and printing data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from collector.errors import UsageError
from collector.overrides import ANY, Override

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
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Add or replace a setting; KEY may be dotted."),
]
HeadHost = Annotated[str, typer.Option(help="Host of the head server.")]
HeadPort = Annotated[int, typer.Option(help="Port of the head server.")]
RequestTimeout = Annotated[
    float, typer.Option(help="Seconds until a request is given up; rollouts may be long.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
CONFIG_OVERRIDES = {
    "config_paths": Override("--config", is_list=True),
    "head_server.host": Override("--head-host"),
    "head_server.port": Override("--head-port"),
    ANY: Override("--set"),
}
HEALTH = "Spotter's own findings are in the mart rollout_health"
UNUSED_OVERRIDES = {
    "disable_health_check": Override("", unused=HEALTH),
    "health_check_workers": Override("", unused=HEALTH),
    "health_check_ignored_checks": Override("", unused=HEALTH),
    "verbose": Override("", unused="failures are always written down in full"),
    "global_aiohttp_connector_limit": Override("", unused="num_samples_in_parallel is the limit"),
    "global_aiohttp_connector_limit_per_host": Override(
        "", unused="num_samples_in_parallel is the limit"
    ),
}
CONNECTION_OVERRIDES = {
    "agent_url": Override("--agent-url"),
    "head_server.host": Override("--head-host"),
    "head_server.port": Override("--head-port"),
    "request_timeout": Override("--request-timeout"),
}


def parsed(name: str, texts: list[str]) -> Any:
    """Read values as YAML; maps that are given one after the other are merged."""
    from collector import values

    result: Any = None
    for text in texts:
        try:
            result = values.merged(result, values.parse(text))
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
