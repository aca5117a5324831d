"""Profile a run in the simple way: everything in memory, one `groupby.apply` per grain.

    python bench/baseline.py STEM

Reads both files with orjson, keeps one record per rollout, and writes the same figures as Spotter.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

Row = dict[str, Any]
INDICES = ["_ng_task_index", "_ng_rollout_index"]


def load(path: Path) -> dict[tuple[int, int], Row]:
    """Read a file into a dictionary by task and rollout index."""
    rows: dict[tuple[int, int], Row] = {}
    with path.open("rb") as file:
        for line in file:
            row = orjson.loads(line)
            key = (row["_ng_task_index"], row["_ng_rollout_index"])
            if key in rows:
                message = f"duplicate {key}"
                raise SystemExit(message)
            rows[key] = row
    return rows


def numbers(row: Row) -> Row:
    """Keep numbers, and booleans as 0 and 1."""
    return {
        name: int(value) if isinstance(value, bool) else value
        for name, value in row.items()
        if isinstance(value, (bool, int, float))
    }


def describe(group: pd.DataFrame) -> pd.Series[float]:
    """Return the five statistics of every column of a group."""
    found = [group.mean(), group.max(), group.min(), group.median(), group.std()]
    if len(group) == 1:
        found[4] = found[4].fillna(0)
    table = pd.DataFrame(found, index=["mean", "max", "min", "median", "std"])
    return table.stack()


def statistics(frame: pd.DataFrame, by: str) -> list[Row]:
    """Return the statistics of every group, without absent ones."""
    table = pd.DataFrame(frame.groupby(by).apply(describe))
    table.columns = table.columns.map("/".join)
    return [
        {str(name): value for name, value in row.items() if pd.notna(value)}
        for row in table.reset_index().to_dict("records")
    ]


def profile(stem: Path) -> None:
    """Profile one run and write both files."""
    inputs = load(stem.with_name(f"{stem.name}_materialized_inputs.jsonl"))
    rollouts = load(stem.with_name(f"{stem.name}.jsonl"))
    if inputs.keys() != rollouts.keys():
        message = "inputs and rollouts do not match"
        raise SystemExit(message)
    records: list[Row] = []
    infos: dict[int, list[Row]] = defaultdict(list)
    samples: dict[int, Row] = {}
    for key in sorted(inputs):
        rollout = rollouts[key]
        usage = rollout["response"].get("usage") or {}
        samples.setdefault(key[0], inputs[key])
        agent = {"agent_name": inputs[key]["agent_ref"]["name"]}
        records.append(agent | numbers(rollout | usage))
        infos[key[0]].append(
            {"rollout_id": f"{key[0]}:{key[1]}"} | numbers(usage) | numbers(rollout)
        )
    frame = pd.DataFrame.from_records(records)
    tasks = statistics(frame.drop(columns=["_ng_rollout_index", "agent_name"]), "_ng_task_index")
    agents = statistics(frame.drop(columns=INDICES), "agent_name")
    expected = Counter(task for task, _ in inputs)
    with stem.with_name(f"{stem.name}_baseline_profiling.jsonl").open("wb") as file:
        for row in tasks:
            task = row["_ng_task_index"]
            count = len(infos[task])
            row["sample"] = {k: v for k, v in samples[task].items() if k not in INDICES}
            row["num_rollouts"] = count
            row["expected_num_rollouts"] = expected[task]
            row["missing_num_rollouts"] = expected[task] - count
            row["reward_profile_completion_pct"] = 100.0 * count / expected[task]
            row["rollout_infos"] = infos[task]
            file.write(orjson.dumps(row) + b"\n")
    for agent in agents:
        agent["agent_ref"] = {"name": agent.pop("agent_name")}
    stem.with_name(f"{stem.name}_baseline_agents.json").write_bytes(orjson.dumps(agents))


if __name__ == "__main__":
    profile(Path(sys.argv[1]))
