"""Read ATIF trajectories, step by step, with the files that they refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.errors import FileError
from collector.importing.atif_steps import SUBAGENTS, step_items
from collector.importing.attempts import Json
from collector.importing.json_scanner import JsonScanner
from collector.importing.json_values import items, number, part, text, usage
from collector.importing.reading import Meter

KNOWN = re.compile(r"ATIF-v1\.\d+")
STEP_BYTES = 64 << 20
HEAVY = ("prompt_token_ids", "completion_token_ids", "logprobs")
"""What a step may have for each token: as large as all the rest, and not carried over."""
MOST_CONTINUATIONS = 1000


@dataclass(frozen=True)
class Trajectory:
    """A trajectory; its steps lack what they have for each token."""

    path: Path
    values: Json
    steps: list[Json]
    has_tokens: bool = False
    """Whether the steps have token ids or log probabilities, which are not carried over."""

    @property
    def agent(self) -> Json:
        """Return who made the trajectory."""
        return part(self.values, "agent")

    @property
    def own_steps(self) -> list[Json]:
        """Return the steps without those that were copied from another trajectory."""
        return [step for step in self.steps if not step.get("is_copied_context")]

    @property
    def continuation(self) -> str | None:
        """Return the reference to the file in which the trajectory goes on."""
        return text(self.values.get("continued_trajectory_ref"))

    @property
    def is_continuation(self) -> bool:
        """Tell whether the trajectory says that it continues another one."""
        return number(part(self.agent, "extra").get("continuation_index")) is not None

    @property
    def has_session_references(self) -> bool:
        """Tell whether a session names a trajectory: from v1.7 on, several may share one."""
        return str(self.values.get("schema_version")) < "ATIF-v1.7"

    def subagents(self) -> Iterator[Json]:
        """Give the references to trajectories of subagents."""
        for step in self.steps:
            for result in items(part(step, "observation"), "results"):
                found = result.get(SUBAGENTS) if isinstance(result, dict) else None
                yield from (one for one in _as_list(found) if isinstance(one, dict))

    def usage(self) -> Json | None:
        """Return the tokens: the totals, else the sum of the steps."""
        totals = part(self.values, "final_metrics")
        names = ("prompt_tokens", "completion_tokens", "cached_tokens")
        given, made, cached = (
            number(totals.get(f"total_{name}", _sum(self.own_steps, name))) for name in names
        )
        return usage(given, made, cached=cached)

    def cost(self) -> float | None:
        """Return what the trajectory cost in dollars."""
        totals = part(self.values, "final_metrics")
        return number(totals.get("total_cost_usd", _sum(self.own_steps, "cost_usd")))

    def tools(self) -> list[Json]:
        """Return the tools of the agent in the form of the Responses API."""
        tools = [one for one in items(self.agent, "tool_definitions") if isinstance(one, dict)]
        return [
            {"type": "function", **part(one, "function")} if "function" in one else one
            for one in tools
        ]


@dataclass
class TrajectoryFiles:
    """Reads trajectories, and remembers what of them was not carried over."""

    meter: Meter
    token_count: int = 0
    lost: list[str] = field(default_factory=list)

    def read(self, path: Path) -> Trajectory:
        """Read a trajectory; raise FileError if the file is not one."""
        try:
            with path.open("rb") as file:
                trajectory = _scan(path, JsonScanner(file.read))
            self.meter.add(path.stat().st_size)
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise FileError(f"{path} is not a complete ATIF trajectory: {error}") from error
        version = trajectory.values.get("schema_version")
        if not KNOWN.fullmatch(str(version)):
            raise FileError(f"cannot read {path}: its schema is {version}, not ATIF-v1.x")
        self.token_count += trajectory.has_tokens
        return trajectory

    def chain(self, path: Path) -> list[Trajectory]:
        """Return a trajectory and those that continue it."""
        chain = [self.read(path)]
        while reference := chain[-1].continuation:
            target = neighbour(chain[-1].path, reference)
            if target is None or len(chain) > MOST_CONTINUATIONS:
                self.lost.append(f"{chain[-1].path.name} goes on in {reference}, which is absent")
                break
            chain.append(self.read(target))
        return chain

    def subagents(self, trajectory: Trajectory) -> list[Json]:
        """Return the trajectories of subagents, embedded or in files, as fields to keep."""
        embedded = [
            one
            for one in items(trajectory.values, "subagent_trajectories")
            if isinstance(one, dict)
        ]
        found = [_as_field(part(one, "agent"), items(one, "steps")) for one in embedded]
        for reference in trajectory.subagents():
            name = text(reference.get("trajectory_path"))
            target = neighbour(trajectory.path, name) if name else None
            if target:
                one = self.read(target)
                found.append(_as_field(one.agent, list(one.own_steps)))
        return found


def neighbour(path: Path, reference: str) -> Path | None:
    """Return the file that a trajectory refers to, if it lies in the same folder or below it."""
    try:
        target = (path.parent / reference).resolve()
        is_inside = target.is_relative_to(path.parent.resolve())
        return target if is_inside and target.is_file() and target != path.resolve() else None
    except (OSError, ValueError, RuntimeError):  # a text that cannot be a path, or a loop of links
        return None


def _as_field(agent: Json, steps: list[Any]) -> Json:
    return {"agent": agent.get("name"), "output": step_items(steps)}


def _scan(path: Path, scanner: JsonScanner) -> Trajectory:
    values: Json = {}
    steps: list[Json] = []
    has_tokens = False
    for name in scanner.members():
        if name != "steps" or scanner.kind() != "[":
            values[name] = scanner.parse(STEP_BYTES)
            continue
        for _ in scanner.elements():
            step = scanner.parse(STEP_BYTES)
            if isinstance(step, dict):
                has_tokens = _lighten(step) or has_tokens
                steps.append(step)
    scanner.finish()
    return Trajectory(path, values, steps, has_tokens)


def _lighten(step: Json) -> bool:
    """Remove what a step has for each token; return whether there was any."""
    metrics = part(step, "metrics")
    removed = [metrics.pop(name, None) for name in HEAVY]
    return any(one is not None for one in removed)


def _sum(steps: list[Json], name: str) -> float | None:
    counts = [number(part(step, "metrics").get(name)) for step in steps]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
