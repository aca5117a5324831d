"""Read a plan: which tasks of a run are to have how many repeats in total."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from collector.collection.problems import LineProblems
from collector.collection.rows import numbered_lines
from collector.jsonl import parse_object
from collector.keys import MAX_INDEX, MAX_ROLLOUT

NEXT_STEP = "then give the same command again"
OTHER_RUN = "the plan belongs to another run: make a new plan for this one"
MEANINGS = {
    "task_index": "the index of a task of the run",
    "num_repeats": f"a number from 1 to {MAX_ROLLOUT:,}: the repeats in total",
    "agent_name": "the name of an agent of the run",
    "task_id": "the text that the warehouse has as `task_id`",
}


class PlanEntry(BaseModel):
    """One line of a plan; other fields are for people."""

    model_config = ConfigDict(extra="ignore", strict=True)

    task_index: Annotated[int, Field(ge=0, le=MAX_INDEX)]
    num_repeats: Annotated[int, Field(ge=1, le=MAX_ROLLOUT)]
    """The repeats of the task on the agent in total, including those that the run has."""
    agent_name: str | None = None
    """The agent; None means each agent that the task was sent to."""
    task_id: str | None = None
    """The hash of the task's content, which tells whether the plan is for this run."""


@dataclass(frozen=True)
class PlanLine:
    """An entry of a plan and its line number."""

    number: int
    entry: PlanEntry


@dataclass(frozen=True)
class RepeatPlan:
    """The usable lines of a plan."""

    path: Path
    lines: tuple[PlanLine, ...]

    @property
    def tasks(self) -> set[int]:
        """Return the indices of the planned tasks."""
        return {line.entry.task_index for line in self.lines}

    def problems(self) -> LineProblems:
        """Return an empty list of problems of this plan."""
        return LineProblems(self.path, next_step=NEXT_STEP)


def read_plan(path: Path) -> RepeatPlan:
    """Read a plan; raise LinesError with every line that is not an entry."""
    problems = LineProblems(path, next_step=NEXT_STEP)
    plan = RepeatPlan(path, tuple(_entries(numbered_lines(path), problems)))
    problems.raise_any()
    return plan


def _entries(lines: Iterable[tuple[int, bytes]], problems: LineProblems) -> Iterator[PlanLine]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield PlanLine(number, PlanEntry.model_validate(parse_object(line.strip())))
        except ValidationError as error:
            for problem in error.errors(include_url=False, include_input=False):
                name = str(problem["loc"][0])
                is_missing = problem["type"] == "missing"
                reason = f"no {name}" if is_missing else f"{name} is not {MEANINGS[name]}"
                problems.add(number, reason)
        except ValueError as error:
            problems.add(number, str(error))
