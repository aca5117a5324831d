"""The endpoint `/aggregate_metrics` as NeMo Gym answers it, with figures from the dbt models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from collector.child_process import failure_reason, spotter_command
from collector.errors import InvariantError
from collector.jsonl import dump
from collector.keys import ROLLOUT, TASK, row_key
from collector.servers.web import RequestRefusedError, json_response, read_body
from collector.temporary_files import temporary_folder

Row = dict[str, Any]
# NeMo Gym profiles all rollouts of a server under one agent name
AGENT = {"name": "agent"}
KEY_METRICS = ("mean/", "coverage/")


async def aggregate_endpoint(request: Request) -> Response:
    """Answer `/aggregate_metrics` with the metrics of the rollouts in the request."""
    body = await read_body(request)
    return json_response(await _aggregate_metrics(body.get("verify_responses")))


async def _aggregate_metrics(rollouts: Any) -> Row:
    """Profile the rollouts in a temporary warehouse, and return the answer that NeMo Gym gives."""
    keys = _rollout_keys(rollouts)
    if not keys:
        return _answer(profiles=[], metrics={}, repeats=[])
    with temporary_folder() as folder:
        _write_rows(folder / "run.jsonl", [{**row, "agent_ref": AGENT} for row in rollouts])
        inputs = [{"agent_ref": AGENT, TASK: task, ROLLOUT: rollout} for task, rollout in keys]
        _write_rows(folder / "run_materialized_inputs.jsonl", inputs)
        await _profile(folder)
        lines = (folder / "run_reward_profiling.jsonl").read_bytes().splitlines()
        (agent,) = orjson.loads((folder / "run_agent_metrics.json").read_bytes())
        repeats = orjson.loads((folder / "run_repeat_level_metrics.json").read_bytes())
    profiles = [orjson.loads(line) for line in lines]
    # if all rollouts are masked, NeMo Gym leaves the number of repeats out
    count = {"num_repeats": len({rollout for _, rollout in keys})} if profiles else {}
    return _answer(
        profiles=profiles,
        metrics={**_without_agent(agent), **count},
        repeats=[_without_agent(repeat) for repeat in repeats],
    )


def _answer(*, profiles: list[Row], metrics: Row, repeats: list[Row]) -> Row:
    return {
        "group_level_metrics": profiles,
        "agent_metrics": metrics,
        "key_metrics": {key: metrics[key] for key in metrics if key.startswith(KEY_METRICS)},
        "perf_summary": None,
        "repeat_level_metrics": repeats,
    }


def _without_agent(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if key != "agent_ref"}


def _rollout_keys(rollouts: Any) -> list[tuple[int, int]]:
    if not isinstance(rollouts, list) or not all(isinstance(row, dict) for row in rollouts):
        raise RequestRefusedError(422, "verify_responses must be a list of rollouts")
    try:
        return [row_key(row) for row in rollouts]
    except ValueError as error:
        raise RequestRefusedError(422, f"verify_responses: {error}") from error


def _write_rows(path: Path, rows: list[Row]) -> None:
    with path.open("wb") as file:
        file.writelines(dump(row) + b"\n" for row in rows)


async def _profile(folder: Path) -> None:
    """Run `spotter profile` in a child process: dbt and DuckDB would block the server."""
    process = await asyncio.create_subprocess_exec(
        *spotter_command("profile", "run.jsonl", "--warehouse", "w.duckdb", "--json"),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate()
    if process.returncode:
        status = 422 if process.returncode == InvariantError.exit_code else 500
        raise RequestRefusedError(status, failure_reason(process.returncode, stdout, stderr))
