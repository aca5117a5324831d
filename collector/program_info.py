"""Show the versions of the packages, and list the commands with their NeMo Gym names."""

from __future__ import annotations

import json
import platform
import textwrap
from importlib.metadata import entry_points, version

import typer

COLUMNS = 80
PACKAGES = ("dbt-core", "dbt-duckdb", "duckdb", "httpx", "aiohttp", "orjson", "pydantic", "typer")
ALIASES = {
    "run": "ng_run",
    "status": "ng_status",
    "config": "ng_dump_config",
    "collect": "ng_collect_rollouts",
    "collect --serve": "ng_e2e_collect_rollouts",
    "aggregate": "ng_aggregate_rollouts",
    "profile": "ng_reward_profile",
    "view": "ng_viewer",
    "test": "ng_test",
    "--version": "ng_version",
    "--help": "ng_help",
}
MORE = {
    "collect --serve": "Start the servers of config files, collect their datasets, stop them.",
    "--version": "Show the versions of Spotter and its main packages.",
    "--help": "List all commands.",
}


def show_versions(*, as_json: bool) -> None:
    """Print the versions of Spotter, Python and the main packages."""
    versions = {
        "spotter": version("spotter"),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
    if as_json:
        typer.echo(json.dumps(versions, indent=2))
    else:
        typer.echo("\n".join(f"{name} {number}" for name, number in versions.items()))


def commands_text(app: typer.Typer) -> str:
    """Return the name of each command, its NeMo Gym name and what it does, in 80 columns."""
    group = typer.main.get_command(app)
    commands = getattr(group, "commands", {})
    summaries = {name: command.get_short_help_str(100) for name, command in commands.items()} | MORE
    installed = {point.name for point in entry_points(group="console_scripts")}
    rows = [
        ("spotter", "NeMo Gym", "what it does"),
        *(
            (name, ALIASES.get(name, ""), text)
            for name, text in summaries.items()
            if ALIASES.get(name, "") in installed | {""}
        ),
    ]
    width = max(len(name) for name, _, _ in rows)
    alias_width = max(len(alias) for _, alias, _ in rows)
    indent = " " * (width + alias_width + 4)
    return "\n".join(
        textwrap.fill(
            text,
            COLUMNS,
            initial_indent=f"{name:{width}}  {alias:{alias_width}}  ",
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        for name, alias, text in rows
    )
