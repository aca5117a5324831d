"""What several commands share: options, and printing data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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


def print_json(data: object) -> None:
    """Print data for scripts."""
    import json

    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
