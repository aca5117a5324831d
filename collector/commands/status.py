"""`spotter status`, also `ng_status`."""

from __future__ import annotations

from collector.collection.head_options import (
    DEFAULT_HEAD_HOST,
    DEFAULT_HEAD_PORT,
    HeadHost,
    HeadPort,
)
from collector.commands.common import Json, print_json
from collector.errors import ServerError


def status(
    *,
    head_host: HeadHost = DEFAULT_HEAD_HOST,
    head_port: HeadPort = DEFAULT_HEAD_PORT,
    json: Json = False,
) -> None:
    """Check the health of every running server.

    Asks the head server for its servers. Exits with 3 if one is down.

    \b
    spotter status
    spotter status --json
    """
    import asyncio
    from dataclasses import asdict

    from collector.collection.settings.connection import HeadAddress
    from collector.servers.status import check_servers, status_table
    from collector.terminal import show
    from collector.validation import validate_settings

    head = validate_settings(HeadAddress, {"head_host": head_host, "head_port": head_port})
    servers = asyncio.run(check_servers(head.head_host, head.head_port))
    if json:
        print_json([asdict(health) for health in servers])
    else:
        show([status_table(servers)])
    if down := [health.name for health in servers if not health.is_healthy]:
        verb = "is" if len(down) == 1 else "are"
        raise ServerError(f"{len(down)} of {len(servers)} servers {verb} down: {', '.join(down)}")
