"""Write runs, profile them as a user would, and read the results."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import duckdb

from tests.programs import run_command
from tests.warm_processes import WarmProgram

ROOT = Path(__file__).parent.parent
Row = dict[str, Any]
MARTS = (
    "runs",
    "rollout_infos",
    "rollout_metrics",
    "task_profiles",
    "task_metrics",
    "agent_metrics",
    "repeat_metrics",
    "agent_repeats",
    "agent_efforts",
    "mask_kinds",
    "pass_at_k",
    "agent_scores",
    "task_slices",
    "metric_histograms",
    "reward_by_length",
    "task_bands",
    "agent_reliability",
    "failure_classes",
    "rollout_health",
)
COMPARISONS = ("run_comparisons", "task_comparisons", "task_trajectories", "effort_comparisons")
"""The marts that `spotter compare` fills."""
SECOND_VERDICTS = ("verdict_comparisons", "verdict_changes")
"""Those that it fills for runs with the same rollouts, which the collector's record tells."""
VIEWS = ("run_overviews", "reward_spreads", "curation_candidates", "rollout_pairs")
ALL_MARTS = (*MARTS, *VIEWS, *COMPARISONS, *SECOND_VERDICTS)


@dataclass(frozen=True)
class Profiled:
    """A run on disk, and the files that its profile writes."""

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
    def repeats(self) -> Path:
        return self._beside("_repeat_level_metrics.json")

    @property
    def stem(self) -> Path:
        return self._beside("")

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

    def table(self, sql: str) -> list[Row]:
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            result = connection.execute(sql)
            names = [column[0] for column in result.description or []]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def _beside(self, suffix: str) -> Path:
        return self.rollouts.with_name(self.rollouts.name.removesuffix(".jsonl") + suffix)


def read_json(text: str) -> Any:
    """Parse JSON, and fail on NaN and Infinity."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    message = f"{constant} is no JSON"
    raise ValueError(message)


def key(task: int, rollout: int, **fields: Any) -> Row:
    """Return a row with its two indices and an agent, for inputs and rollouts."""
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


def inputs_of(rows: Iterable[Row]) -> list[Row]:
    """Return the inputs that belong to rollouts: their indices and agents."""
    names = ("agent_ref", "_ng_task_index", "_ng_rollout_index")
    return [{name: row[name] for name in names} for row in rows]


def numbered(agents: Mapping[str, Sequence[Sequence[Any]]]) -> list[Row]:
    """Return rollouts from the rewards of each agent's tasks; no two tasks share an index."""
    tasks = [(agent, rewards) for agent, own in agents.items() for rewards in own]
    return [
        key(task, index, agent_ref={"name": agent}, reward=reward)
        for task, (agent, rewards) in enumerate(tasks)
        for index, reward in enumerate(rewards)
    ]


def run_profile(
    *arguments: str | Path, cwd: Path, command: str = "spotter"
) -> subprocess.CompletedProcess[str]:
    """Run `spotter profile` in this process."""
    words = ["profile"] if command == "spotter" else []
    return run_command(command, *words, *arguments, cwd=cwd)


def profiled(run: Profiled, *options: str) -> Profiled:
    """Profile a valid run; fail if the command fails."""
    result = run_profile(run.rollouts, *options, cwd=run.rollouts.parent)
    assert result.returncode == 0, result.stderr
    return run


def profile_agents(
    folder: Path, agents: Mapping[str, Sequence[Sequence[Any]]], *options: str
) -> Profiled:
    """Write and profile a run with these rewards."""
    rows = numbered(agents)
    return profiled(write_run(folder, rows, inputs=inputs_of(rows)), *options)


def on_terminal(*arguments: str | Path, cwd: Path) -> str:
    """What the command leaves on a wide terminal without colour: its progress is erased."""
    return without_progress(through_terminal(*arguments, cwd=cwd, columns=200, NO_COLOR="1"))


def without_progress(text: str) -> str:
    """Erase the lines that the command erases; other escape sequences stay."""
    lines, row = [""], 0
    for part in re.split(r"(\x1b\[1A|\x1b\[2K|\n)", text):
        if part == "\x1b[1A":
            row -= 1
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        else:
            lines[row] += part
    return "\n".join(lines)


def through_terminal(
    *arguments: str | Path,
    cwd: Path,
    columns: int = 80,
    prepare: Callable[[], None] | None = None,
    **environment: str,
) -> str:
    """Everything that the command writes to a terminal; `prepare` is that of `WarmProgram`."""
    program = Path(sys.executable).with_name("spotter")
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (24, columns))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "NO_COLOR", "TERM")
    }
    with WarmProgram(
        [str(program), *map(str, arguments)],
        cwd=cwd,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**inherited, "TERM": "xterm", **environment},
        prepare=prepare,
    ):
        os.close(its)
        chunks = []
        with contextlib.suppress(OSError):  # Linux raises this when the other side is closed
            while chunk := os.read(ours, 1 << 16):
                chunks.append(chunk)
    os.close(ours)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def load_compare() -> ModuleType:
    """Return the comparison that comes with the golden cases, which must not be rewritten here."""
    path = ROOT / "tests" / "fixtures" / "compare.py"
    spec = importlib.util.spec_from_file_location("compare", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
