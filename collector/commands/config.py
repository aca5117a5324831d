"""`spotter config`, also `ng_dump_config`."""

from __future__ import annotations

import typer

from collector.commands.common import CONFIG_OVERRIDES, ConfigPaths, Configs, Set
from collector.overrides import ANY

OVERRIDES = {name: CONFIG_OVERRIDES[name] for name in ("config_paths", ANY)}


def config(paths: ConfigPaths = None, *, config: Configs = None, settings: Set = None) -> None:
    """Print the config that `spotter run` would use, with secrets hidden.

    \b
    spotter config -c resources_servers/workplace/configs/workplace.yaml \\
        -c responses_api_models/simulated_model/configs/simulated_model.yaml
    """
    import yaml

    from collector.servers.config import load_config, redacted, servers_of

    loaded = load_config([*(paths or []), *(config or [])], settings or [])
    servers_of(loaded)
    typer.echo(yaml.safe_dump(redacted(loaded), sort_keys=False, allow_unicode=True), nl=False)
