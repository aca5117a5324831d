"""Serve an agent for benchmarks: every answer takes 200 ms and has 20 KB."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web

SECONDS = 0.2
PADDING = 20_000
TOKENS = b'"usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}'
ANSWER = b'{"reward": 1.0, "response": {"output": "%b", %b}}' % (b"x" * PADDING, TOKENS)


async def run(request: web.Request) -> web.Response:
    """Answer as an agent would."""
    await request.read()
    await asyncio.sleep(SECONDS)
    return web.Response(body=ANSWER, content_type="application/json")


def main() -> None:
    """Serve until killed."""
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/run", run)
    web.run_app(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        print=None,
        access_log=None,
        backlog=4096,
        shutdown_timeout=0.1,
    )


if __name__ == "__main__":
    main()
