"""`spotter run`, also `ng_run`."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.commands.common import ConfigPaths, Configs, Set
from collector.overrides import FLAG_ONLY, OverrideName


def run(
    paths: ConfigPaths = None,
    *,
    config: Configs = None,
    settings: Set = None,
    head_host: Annotated[
        str | None,
        typer.Option(
            show_default="as in the configs, or 127.0.0.1",
            help="The host on which the head server listens.",
        ),
        OverrideName("head_server.host"),
    ] = None,
    head_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            show_default="as in the configs, or 11000",
            help="The port of the head server; 0 takes any free one.",
        ),
        OverrideName("head_server.port"),
    ] = None,
    exit_with_stdin: Annotated[
        bool,
        typer.Option("--exit-with-stdin", hidden=True, help="End when standard input is closed."),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the addresses as one line of JSON when all servers are ready."
        ),
        FLAG_ONLY,
    ] = False,
) -> None:
    """Start servers from config files.

    The servers run until you press Ctrl-C.
    Paths are looked up in the current folder, then among the configs that come with Spotter. One of
    these is a simulated model that needs no network.

    \b
    spotter run -c resources_servers/workplace_assistant/configs/workplace_assistant.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    ng_run "+config_paths=[responses_api_models/openai_model/configs/openai_model.yaml,\\
    resources_servers/workplace_assistant/configs/workplace_assistant.yaml]" \\
        +policy_base_url=http://127.0.0.1:8000/v1 +policy_api_key=x +policy_model_name=my-model
    """
    import asyncio

    from collector.servers.config import HEAD, load_config
    from collector.servers.serve import serve

    address = {"host": head_host, "port": head_port}
    head = [f"{HEAD}.{name}={value}" for name, value in address.items() if value is not None]
    loaded = load_config([*(paths or []), *(config or [])], [*(settings or []), *head])
    asyncio.run(serve(loaded, as_json=json, exit_with_stdin=exit_with_stdin))
