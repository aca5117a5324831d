"""The options that say where the head server is, for commands whose help must not need pydantic."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from collector.overrides import OverrideName

DEFAULT_HEAD_HOST = "127.0.0.1"
DEFAULT_HEAD_PORT = 11000
HeadHost = Annotated[
    str, Option(help="The host of the head server."), OverrideName("head_server.host")
]
HeadPort = Annotated[
    int, Option(help="The port of the head server."), OverrideName("head_server.port")
]
