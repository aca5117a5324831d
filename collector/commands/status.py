"""`spotter status`, also `ng_status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from collector.commands.common import Json, print_json
from collector.errors import ServerError

if TYPE_CHECKING:
    from collector.collection.settings import HeadAddress


def status(head: HeadAddress, *, json: Json = False) -> None:
    """Check every server that the head server lists; exit with 3 if one is down.

    \b
    spotter status
    spotter status --json
    """
    import asyncio
    from dataclasses import asdict

    from collector.servers.status import check_servers
    from collector.terminal import printable

    servers = asyncio.run(check_servers(head.head_host, head.head_port))
    if json:
        print_json([asdict(health) for health in servers])
    else:
        width = max([0, *(len(health.name) for health in servers)])
        for health in servers:
            state = "healthy" if health.is_healthy else f"DOWN: {health.problem}"
            typer.echo(
                f"{printable(health.name):{width}}  {printable(health.url)}"
                f"  {health.latency_ms:7.1f} ms  {printable(state)}"
            )
    if down := [health.name for health in servers if not health.is_healthy]:
        raise ServerError(f"{len(down)} of {len(servers)} servers are down: {', '.join(down)}")
