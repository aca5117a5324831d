"""`spotter status`, also `ng_status`."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.commands.common import HeadHost, HeadPort, print_json
from collector.errors import ServerError
from collector.overrides import FLAG_ONLY


def status(
    *,
    head_host: HeadHost = "127.0.0.1",
    head_port: HeadPort = 11000,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Check every server that the head server knows; exit with 3 if one is down.

    \b
    spotter status
    spotter status --json
    """
    import asyncio
    from dataclasses import asdict

    from collector.servers.status import check_all, status_table
    from collector.terminal import show

    servers = asyncio.run(check_all(head_host, head_port))
    if json:
        print_json([asdict(health) for health in servers])
    else:
        show([status_table(servers)])
    if down := [health.name for health in servers if not health.is_healthy]:
        raise ServerError(f"{len(down)} of {len(servers)} servers are down: {', '.join(down)}")
