"""Aggregate metrics as NeMo Gym's servers answer them; the figures come from the dbt models."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import orjson

from collector.child_process import command, failure
from collector.errors import InvariantError
from collector.jsonl import dump
from collector.keys import ROLLOUT, TASK, key_of
from collector.servers.web import RefusedError

Row = dict[str, Any]
# NeMo Gym profiles the rollouts of one server under one name
AGENT = {"name": "agent"}
KEY_METRICS = ("mean/", "coverage/")


async def aggregate_metrics(rollouts: Any) -> Row:
    """Profile the rollouts in a warehouse of their own, and return what NeMo Gym would."""
    keys = _keys(rollouts)
    if not keys:
        return _answer(profiles=[], metrics={}, repeats=[])
    with tempfile.TemporaryDirectory(prefix="spotter-aggregate-") as name:
        folder = Path(name)
        _write(folder / "run.jsonl", [{**row, "agent_ref": AGENT} for row in rollouts])
        inputs = [{"agent_ref": AGENT, TASK: task, ROLLOUT: rollout} for task, rollout in keys]
        _write(folder / "run_materialized_inputs.jsonl", inputs)
        await _profile(folder)
        lines = (folder / "run_reward_profiling.jsonl").read_bytes().splitlines()
        (agent,) = orjson.loads((folder / "run_agent_metrics.json").read_bytes())
        repeats = orjson.loads((folder / "run_repeat_level_metrics.json").read_bytes())
    profiles = [orjson.loads(line) for line in lines]
    # if all are masked, NeMo Gym tells only that
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


def _keys(rollouts: Any) -> list[tuple[int, int]]:
    if not isinstance(rollouts, list) or not all(isinstance(row, dict) for row in rollouts):
        raise RefusedError(422, "verify_responses must be a list of rollouts")
    try:
        return [key_of(row) for row in rollouts]
    except ValueError as error:
        raise RefusedError(422, f"verify_responses: {error}") from error


def _write(path: Path, rows: list[Row]) -> None:
    with path.open("wb") as file:
        file.writelines(dump(row) + b"\n" for row in rows)


async def _profile(folder: Path) -> None:
    """Run the command in a process of its own: dbt and DuckDB would hold up the server."""
    process = await asyncio.create_subprocess_exec(
        *command("profile", "run.jsonl", "--warehouse", "w.duckdb", "--json"),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    if process.returncode:
        status = 422 if process.returncode == InvariantError.exit_code else 500
        raise RefusedError(status, failure(process.returncode, printed, complaints))
