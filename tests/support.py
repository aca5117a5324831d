"""What the tests share: writing runs, profiling them as a user would, reading what came out."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb

ROOT = Path(__file__).parent.parent
Row = dict[str, Any]
MARTS = (
    "runs",
    "rollout_infos",
    "rollout_metrics",
    "task_profiles",
    "task_metrics",
    "agent_metrics",
    "pass_at_k",
    "agent_scores",
    "reward_histograms",
    "reward_by_length",
    "task_bands",
    "agent_reliability",
    "failures",
    "rollout_health",
)


@dataclass(frozen=True)
class Profiled:
    """A run on disk, and the files its profile leads to."""

    rollouts: Path

    @property
    def inputs(self) -> Path:
        return self._beside("_materialized_inputs.jsonl")

    @property
    def failures(self) -> Path:
        return self._beside("_failures.jsonl")

    @property
    def profiling(self) -> Path:
        return self._beside("_reward_profiling.jsonl")

    @property
    def agents(self) -> Path:
        return self._beside("_agent_metrics.json")

    @property
    def warehouse(self) -> Path:
        return self.rollouts.parent / "warehouse.duckdb"

    def profiles(self) -> list[Row]:
        lines = self.profiling.read_text(encoding="utf-8").split("\n")
        return [json.loads(line, parse_constant=_refuse) for line in lines if line]

    def agent_metrics(self) -> list[Row]:
        text = self.agents.read_text(encoding="utf-8")
        return cast("list[Row]", json.loads(text, parse_constant=_refuse))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def _beside(self, suffix: str) -> Path:
        return self.rollouts.with_name(self.rollouts.name.removesuffix(".jsonl") + suffix)


def _refuse(constant: str) -> None:
    message = f"{constant} is no JSON"
    raise ValueError(message)


def key(task: int, rollout: int, **fields: Any) -> Row:
    """A row with its two indices and an agent, which inputs and rollouts both need."""
    agent = {"type": "responses_api_agents", "name": "agent_a"}
    return {"agent_ref": agent, **fields, "_ng_task_index": task, "_ng_rollout_index": rollout}


def write_lines(path: Path, lines: Iterable[Row | bytes]) -> None:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"".join(line + b"\n" for line in raw))


def write_run(
    folder: Path,
    rollouts: Iterable[Row | bytes],
    *,
    inputs: Iterable[Row | bytes],
    name: str = "run",
) -> Profiled:
    folder.mkdir(parents=True, exist_ok=True)
    run = Profiled(folder / f"{name}.jsonl")
    write_lines(run.rollouts, rollouts)
    write_lines(run.inputs, inputs)
    return run


def run_profile(
    *arguments: str | Path, cwd: Path, command: str = "spotter"
) -> subprocess.CompletedProcess[str]:
    """Call the command in a process of its own, as a user would."""
    words = ["profile"] if command == "spotter" else []
    return run_command(command, *words, *arguments, cwd=cwd)


def run_command(
    command: str, *arguments: str | Path, cwd: Path
) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name(command)
    return subprocess.run(
        [str(program), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def load_compare() -> Callable[[Path, Path, Path, str], list[str]]:
    """The golden cases' own comparison, which must not be reimplemented here."""
    path = ROOT / "tests" / "fixtures" / "compare.py"
    spec = importlib.util.spec_from_file_location("compare", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[[Path, Path, Path, str], list[str]]", module.compare)
