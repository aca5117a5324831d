"""`spotter config`, also `ng_dump_config`."""

from __future__ import annotations

from typing import Any

import typer

from collector.collection.head_options import (
    DEFAULT_HEAD_HOST,
    DEFAULT_HEAD_PORT,
    HeadHost,
    HeadPort,
)
from collector.commands.common import ConfigPaths, Configs, Set
from collector.errors import ServerError, UsageError


def config(
    paths: ConfigPaths = None,
    *,
    config: Configs = None,
    settings: Set = None,
    head_host: HeadHost = DEFAULT_HEAD_HOST,
    head_port: HeadPort = DEFAULT_HEAD_PORT,
) -> None:
    """Print a config with its secrets hidden.

    Without config files, prints the config of the running servers.

    \b
    spotter config
    spotter config -c resources_servers/workplace_assistant/configs/workplace_assistant.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    """
    import yaml

    from collector.servers.config import load_config, redact_config, server_configs

    files = [*(paths or []), *(config or [])]
    if settings and not files:
        raise UsageError("--set needs config files: name the files that the settings are for")
    if files:
        loaded = load_config(files, settings or [])
        server_configs(loaded)
    else:
        loaded = _fetch_config({"head_host": head_host, "head_port": head_port})
    typer.echo(yaml.safe_dump(redact_config(loaded), sort_keys=False, allow_unicode=True), nl=False)


def _fetch_config(address: dict[str, Any]) -> dict[str, Any]:
    import asyncio

    from collector.collection.head_config import fetch_head_config
    from collector.collection.settings.connection import HeadAddress
    from collector.gym_client import GymClient
    from collector.servers.config import list_bundled_configs
    from collector.validation import validate_settings

    head = validate_settings(HeadAddress, address)

    async def fetch() -> dict[str, Any]:
        async with GymClient() as client:
            return (await fetch_head_config(head, client)).content

    try:
        return asyncio.run(fetch())
    except ServerError as error:
        raise ServerError(
            "no config files are named, and the running servers cannot be asked:"
            f" {str(error).splitlines()[0]}\n"
            "  what to do: start the servers with `spotter run`, give the head server's address"
            " with --head-host and --head-port, or name config files: -c a.yaml -c b.yaml\n"
            f"  {list_bundled_configs()}"
        ) from error
