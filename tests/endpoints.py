"""Start the OpenAI-compatible test endpoint."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support import Row


@dataclass(frozen=True)
class Endpoint:
    """A running endpoint."""

    port: int

    def settings(self, **more: Any) -> Row:
        return {
            "openai_base_url": f"http://127.0.0.1:{self.port}/v1",
            "openai_api_key": "test-key",
            "openai_model": "served",
            "host": "127.0.0.1",
            "port": 1,
            **more,
        }

    def requests(self) -> list[Row]:
        url = f"http://127.0.0.1:{self.port}/stats"
        with urllib.request.urlopen(url, timeout=10) as reply:
            requests: list[Row] = json.load(reply)["requests"]
            return requests

    def paths(self) -> list[str]:
        return [request["path"] for request in self.requests()]


EndpointFactory = Callable[..., Endpoint]
