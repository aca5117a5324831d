"""A gym for tests: an agent that follows a script in its rows, or fails at random.

A row's `script` says what the agent does at the first, second, … request for the row; the last
entry applies to all later requests. With `--fault-rate`, any request may fail in any way instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import yaml
from aiohttp import web

SECRET = "sk-test-0123456789abcdef"  # noqa: S105 - not a real key
FAULTS = ("500", "429", "drop", "garbage", "malformed", "hang")
Row = dict[str, Any]


class Gym:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.random = random.Random(options.seed)
        self.seen: Counter[str] = Counter()
        self.bodies: list[Row] = []
        self.headers: list[dict[str, str]] = []
        self.active = 0
        self.most_active = 0
        self.aggregated: list[Row] = []
        self.released = asyncio.Event()

    async def run(self, request: web.Request) -> web.StreamResponse:
        row = await request.json()
        if "episode_id" in row:
            return await self.run_episode(row)
        key = f"{row['_ng_task_index']}:{row['_ng_rollout_index']}"
        script = row.get("script", ["ok"])
        move = script[min(self.seen[key], len(script) - 1)]
        self.seen[key] += 1
        if self.options.remember:
            self.bodies.append(row)
            self.headers.append(dict(request.headers))
        if self.random.random() < self.options.fault_rate:
            move = self.random.choice(FAULTS)
        self.active += 1
        self.most_active = max(self.active, self.most_active)
        try:
            await asyncio.sleep(row.get("seconds", self.options.latency))
            return await self.perform(move, row, request)
        finally:
            self.active -= 1

    async def run_episode(self, body: Row) -> web.Response:
        episode, task = body["episode_id"], body["task"]
        script = task["task_input"].get("script", [{"result": {"reward": 1.0}}])
        key = episode["rollout_id"]
        move = script[min(self.seen[key], len(script) - 1)]
        self.seen[key] += 1
        self.bodies.append(body)
        return web.json_response({"episode_id": episode, "task_id": task["task_id"], **move})

    async def verify(self, request: web.Request) -> web.StreamResponse:
        """Answer with the verdict in the row, or do what its `verify_script` says."""
        row = await request.json()
        key = f"verify {row['_ng_task_index']}:{row['_ng_rollout_index']}"
        script = row.get("verify_script", ["ok"])
        move = script[min(self.seen[key], len(script) - 1)]
        self.seen[key] += 1
        self.bodies.append(row)
        if move == "ok":
            return web.json_response({**row, "response": {}, **row.get("verdict", {"reward": 1.0})})
        return await self.perform(move, row, request)

    async def reverify_mode(self, _: web.Request) -> web.Response:
        return web.json_response(self.options.reverify_mode)

    async def perform(self, move: str, row: Row, request: web.Request) -> web.StreamResponse:
        if move == "hold":
            await self.released.wait()
        if move in ("ok", "hold"):
            return web.json_response(
                answer(row, self.options.padding), headers={"Set-Cookie": "session=1; Path=/"}
            )
        if move == "leak":
            return web.json_response({**answer(row, 0), "echo": f"the key is {SECRET}"})
        if move.isdigit():
            headers = {"Retry-After": "0"} if move == "429" else {}
            text = json.dumps(f"it broke; Authorization: Bearer {SECRET}; {json.dumps(row)}")
            return web.Response(text=text, status=int(move), headers=headers)
        if move == "drop":
            assert request.transport
            request.transport.abort()
        elif move == "garbage":
            assert request.transport
            request.transport.write(b"what is HTTP?\r\n\r\n")
            request.transport.close()
        elif move == "hang":
            await asyncio.sleep(3600)
        elif move == "malformed":
            return web.Response(text='{"reward": 1.0, "resp', content_type="application/json")
        elif move.startswith("{"):
            return web.Response(text=move, content_type="application/json")
        return web.Response()

    async def aggregate(self, request: web.Request) -> web.Response:
        rows = (await request.json())["verify_responses"]
        self.aggregated.append({"rows": rows})
        if self.options.aggregate_status != 200:
            return web.Response(
                text=json.dumps(f"no, {SECRET}"), status=self.options.aggregate_status
            )
        mean = sum(row["reward"] for row in rows) / len(rows)
        return web.json_response(
            {
                "agent_metrics": {"mean/reward": mean, "count": len(rows)},
                "key_metrics": {"mean/reward": mean},
                "group_level_metrics": [],
                "repeat_level_metrics": [{"_ng_rollout_index": 0}],
                "perf_summary": {"turns": 2.5},
                "of_tomorrow": [1],
            }
        )

    async def config(self, _: web.Request) -> web.Response:
        server = {"simple_agent": {"host": "127.0.0.1", "port": self.options.port}}
        config = {
            "policy_api_key": SECRET,
            "policy_model": {"responses_api_models": {"m": {"api_key": "${policy_api_key}"}}},
            "my_agent": {
                "responses_api_agents": {
                    "a": {**server["simple_agent"], "resources_server": {"name": "my_verifier"}}
                }
            },
            "my_verifier": {
                "resources_servers": {
                    "r": {**server["simple_agent"], "judge": self.options.judge, "api_key": SECRET}
                }
            },
            "other_agent": {"responses_api_agents": server},
            "lost_agent": {"responses_api_agents": {"a": {"host": "${host}", "port": 1}}},
            "my_source": {"resources_servers": {"r": {}}},
            "source_agent": {
                "responses_api_agents": {
                    "a": {**server["simple_agent"], "resources_server": {"name": "my_source"}}
                }
            },
            "task_server": {
                "environment_servers": {
                    "native": {**server["simple_agent"], "agent_server": {"name": "my_agent"}}
                }
            },
            "hidden_agent": {"responses_api_agents": {"a": {}}},
            "hidden_agent_environment_server": {
                "environment_servers": {
                    "legacy_agent": {
                        **server["simple_agent"],
                        "agent_server": {"type": "responses_api_agents", "name": "hidden_agent"},
                    }
                }
            },
            "observability_enabled": self.options.observed,
        }
        return web.json_response(yaml.safe_dump(config))

    async def release(self, _: web.Request) -> web.Response:
        """Let the rollouts continue whose script says `hold`."""
        self.released.set()
        return web.Response()

    async def stats(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "seen": self.seen,
                "bodies": self.bodies,
                "headers": self.headers,
                "most_active": self.most_active,
                "aggregated": self.aggregated,
            }
        )


def answer(row: Row, padding: int) -> Row:
    task, rollout = row["_ng_task_index"], row["_ng_rollout_index"]
    tokens = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {
        "responses_create_params": row["responses_create_params"],
        "response": {"output": "x" * padding, "usage": tokens},
        "reward": float((task + rollout) % 2),
    }


def parse_options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--padding", type=int, default=100)
    parser.add_argument("--aggregate-status", type=int, default=200)
    parser.add_argument("--remember", action="store_true")
    parser.add_argument("--observed", action="store_true")
    parser.add_argument("--reverify-mode", default="stateless")
    parser.add_argument("--judge", default="a judge")
    return parser.parse_args(words)


def make_app(options: argparse.Namespace) -> web.Application:
    gym = Gym(options)
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/run", gym.run)
    app.router.add_post("/verify", gym.verify)
    app.router.add_get("/reverify_mode", gym.reverify_mode)
    app.router.add_post("/aggregate_metrics", gym.aggregate)
    app.router.add_get("/global_config_dict_yaml", gym.config)
    app.router.add_get("/stats", gym.stats)
    app.router.add_get("/release", gym.release)
    app.router.add_get("/", gym.stats)
    return app


def main() -> None:
    options = parse_options(sys.argv[1:])
    web.run_app(
        make_app(options),
        host="127.0.0.1",
        port=options.port,
        print=None,
        access_log=None,
        backlog=4096,
        shutdown_timeout=0.1,
    )


if __name__ == "__main__":
    main()
