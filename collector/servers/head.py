"""The head server: where the others are."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.config import redacted
from collector.servers.web import answer, make_app

Row = dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """A server that is running."""

    name: str
    kind: str
    implementation: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """Return its address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def path(self) -> str:
        """Return where its implementation lies in a checkout of NeMo Gym."""
        return f"{self.kind}/{self.implementation}"

    @property
    def address(self) -> Row:
        """Return where it listens, as a config has it."""
        return {"host": self.host, "port": self.port}

    def described(self, started: float) -> Row:
        """Return it as NeMo Gym's head server lists it."""
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
    """Build the head server; it tells the config without its secrets: nobody needs them from it."""
    started = time.time()
    text = yaml.safe_dump(redacted(config), sort_keys=False, allow_unicode=True)

    async def global_config(_: Request) -> Response:
        return answer(text)

    async def server_instances(_: Request) -> Response:
        return answer([instance.described(started) for instance in instances])

    return make_app(
        "head_server",
        {},
        getters={
            "/global_config_dict_yaml": global_config,
            "/server_instances": server_instances,
        },
    )
