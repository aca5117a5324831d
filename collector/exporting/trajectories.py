"""Write every rollout as an ATIF trajectory, a file each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import orjson

from collector import __version__
from collector.artifacts import rollouts_files
from collector.exporting import schema
from collector.exporting.atif_steps import trajectory_steps
from collector.exporting.snapshot import relation
from collector.jsonl import Row, dump
from collector.stored_rollouts import Reader, open_reader

ATIF = "ATIF-v1.7"
BATCH = 1_000
PARAMS, AGENT = "responses_create_params", "agent_ref"
OWN = ("response", "reward", "mask_sample", PARAMS, AGENT)


@dataclass(frozen=True)
class _Key:
    """A rollout in the marts, with what only they know."""

    run_id: str
    task: int
    rollout: int
    agent: str | None
    model: str | None
    cost: float | None
    task_id: str | None


def write_trajectories(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    index_parent: Path,
    progress: Callable[[int], None],
) -> int:
    """Write the rollouts of the snapshot's runs into a folder; return how many there are.

    Raise FileError if a file of a run is no longer there, or does not have a rollout.
    """
    folder.mkdir()
    count = 0
    for run_id, rollouts, inputs in _runs(connection):
        target = folder / f"run_id={quote(run_id, safe='')}"
        target.mkdir()
        with (
            open_reader(rollouts_files(rollouts), index_parent) as read,
            open_reader(rollouts_files(inputs), index_parent) as read_input,
        ):
            for key in _keys(connection, run_id):
                path = target / f"task_{key.task}_rollout_{key.rollout}.json"
                path.write_bytes(dump(_trajectory(key, read, read_input)))
                count += 1
                if count % BATCH == 0:
                    progress(count)
    _describe(folder, count)
    return count


def _runs(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.execute(
        f"select run_id, rollouts_path, inputs_path from {relation('runs')} order by run_id"
    ).fetchall()


def _keys(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[_Key]:
    """Give the rollouts of a run, in the order of their keys, some at a time."""
    cursor = connection.cursor()
    cursor.execute(
        f"""
        select run_id, task_index, rollout_index, agent_name, model_name, cost, tasks.task_id
        from {relation("rollout_infos")}
        left join (
            select run_id, task_index, any_value(task_id) as task_id
            from {relation("task_profiles")}
            group by run_id, task_index
        ) as tasks using (run_id, task_index)
        where run_id = ?
        order by task_index, rollout_index
        """,
        [run_id],
    )
    while rows := cursor.fetchmany(BATCH):
        for row in rows:
            yield _Key(*row)


def _trajectory(key: _Key, read: Reader, read_input: Reader) -> Row:
    row = read(key.task, key.rollout)
    asked = _public(read_input(key.task, key.rollout))
    response, params = _object(row, "response"), _object(asked, PARAMS)
    output = response.get("output")
    made = output if isinstance(output, list) else []
    found = trajectory_steps(_prompt(params), made, key.model)
    tools = response.get("tools") or params.get("tools")
    return {
        "schema_version": ATIF,
        "session_id": key.run_id,
        "trajectory_id": f"{key.run_id}:{key.task}:{key.rollout}",
        "agent": {
            "name": key.agent or "unknown",
            "version": "unknown",
            **({"model_name": key.model} if key.model else {}),
            **({"tool_definitions": _tools(tools)} if isinstance(tools, list) and tools else {}),
        },
        "steps": found.steps,
        "final_metrics": _totals(_object(response, "usage"), key.cost, len(found.steps)),
        "extra": {"spotter": {**_extra(key, row, asked), "prompt_steps": found.prompt_count}},
    }


def _object(row: Row, name: str) -> Row:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _prompt(params: Row) -> list[Any]:
    """Return the instructions and the input as items."""
    items: list[Any] = []
    for role, value in (("system", params.get("instructions")), ("user", params.get("input"))):
        if isinstance(value, list):
            items += value
        elif value:
            items.append({"role": role, "content": value})
    return items


def _tools(tools: list[Any]) -> list[Any]:
    """Return tools in the form of Chat Completions, as ATIF asks."""
    return [
        {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}
        if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool
        else tool
        for tool in tools
    ]


def _totals(usage: Row, cost: float | None, steps: int) -> Row:
    totals = {
        "total_prompt_tokens": usage.get("input_tokens"),
        "total_completion_tokens": usage.get("output_tokens"),
        "total_cached_tokens": _object(usage, "input_tokens_details").get("cached_tokens"),
        "total_cost_usd": cost,
        "total_steps": steps,
    }
    return {name: value for name, value in totals.items() if value is not None}


def _extra(key: _Key, row: Row, asked: Row) -> Row:
    """Return what ATIF has no place for: whose rollout it is, its reward and its other fields."""
    fields = {name: one for name, one in _public(row).items() if name not in (*OWN, *asked)}
    metrics = {name: one for name, one in fields.items() if isinstance(one, int | float)}
    rest = {name: one for name, one in fields.items() if name not in metrics and one is not None}
    return {
        "run_id": key.run_id,
        "task": str(row.get("_ng_source_task", key.task)),
        "task_index": key.task,
        "rollout_index": key.rollout,
        "task_id": key.task_id,
        "reward": row.get("reward"),
        **({"mask_sample": row["mask_sample"]} if row.get("mask_sample") else {}),
        "metrics": metrics,
        "fields": rest,
        "asked": {name: one for name, one in asked.items() if name != AGENT},
    }


def _public(row: Row) -> Row:
    return {name: value for name, value in row.items() if not name.startswith("_")}


def _describe(folder: Path, count: int) -> None:
    """Mark the folder as an export, which the next one may replace."""
    package = {
        "name": schema.PACKAGE,
        "title": "Rollouts as ATIF trajectories",
        "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "format": ATIF,
        "trajectories": count,
    }
    (folder / schema.NAME).write_bytes(orjson.dumps(package, option=orjson.OPT_INDENT_2))
