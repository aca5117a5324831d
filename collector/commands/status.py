"""`spotter status`, also `ng_status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.commands.common import Json, print_json
from collector.errors import ServerError

if TYPE_CHECKING:
    from collector.collection.settings.connection import HeadAddress


def status(head: HeadAddress, *, json: Json = False) -> None:
    """Check the health of every running server.

    Asks the head server for its servers. Exits with 3 if one is down.

    \b
    spotter status
    spotter status --json
    """
    import asyncio
    from dataclasses import asdict

    from collector.servers.status import check_servers, status_table
    from collector.terminal import show

    servers = asyncio.run(check_servers(head.head_host, head.head_port))
    if json:
        print_json([asdict(health) for health in servers])
    else:
        show([status_table(servers)])
    if down := [health.name for health in servers if not health.is_healthy]:
        verb = "is" if len(down) == 1 else "are"
        raise ServerError(f"{len(down)} of {len(servers)} servers {verb} down: {', '.join(down)}")
