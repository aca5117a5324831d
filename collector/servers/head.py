"""The head server: it lists the other servers and their config."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.config import redact_config
from collector.servers.web import json_response, make_app

Row = dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """A running server: its name, kind, implementation and address."""

    name: str
    kind: str
    implementation: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """Return the URL of the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def path(self) -> str:
        """Return the path of the implementation in a checkout of NeMo Gym."""
        return f"{self.kind}/{self.implementation}"

    @property
    def address(self) -> Row:
        """Return host and port as a config has them."""
        return {"host": self.host, "port": self.port}

    def listing_entry(self, started: float) -> Row:
        """Return the entry for this server in the list of NeMo Gym's head server."""
        return {
            "process_name": self.name,
            "server_type": self.kind,
            "name": self.implementation,
            "host": self.host,
            "port": self.port,
            "url": self.url,
            "entrypoint": None,
            "pid": os.getpid(),
            "start_time": started,
        }


def head_app(config: Row, instances: list[Instance]) -> Starlette:
    """Build the head server; it serves the config with its secrets redacted."""
    started = time.time()
    text = yaml.safe_dump(redact_config(config), sort_keys=False, allow_unicode=True)

    async def global_config(_: Request) -> Response:
        return json_response(text)

    async def server_instances(_: Request) -> Response:
        return json_response([instance.listing_entry(started) for instance in instances])

    return make_app(
        "head_server",
        {},
        getters={
            "/global_config_dict_yaml": global_config,
            "/server_instances": server_instances,
        },
    )
