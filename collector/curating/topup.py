"""Plan further rollouts: which tasks need how many more until the rules of a recipe can decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from collector.atomic_files import Drafts, anything, nothing
from collector.curating.curate import check_output
from collector.curating.recipe import Keep
from collector.curating.run_checks import CuratedRun, RunChoice, find_run
from collector.curating.selection import Selection, read_plan, select_tasks
from collector.errors import UsageError
from collector.profiling.profile import Outcome
from collector.profiling.sources import RunListener
from collector.warehouse.scratch import log_defects, scratch_beside
from collector.warehouse.sql import Row

DEFAULT_KEEP = Keep(pass_rate=(0.1, 0.9))


@dataclass(frozen=True)
class Budget:
    """The most that the planned rollouts may cost."""

    rollouts: int | None = None
    tokens: float | None = None


@dataclass(frozen=True, kw_only=True)
class PlanRequest(RunChoice):
    """Which run to plan for, and where to write the plan."""

    plan: Path
    budget: Budget = field(default_factory=Budget)

    def declaration(self, run_id: str) -> dict[str, Any]:
        """Return the recipe as the models read it: every undecided task is to be topped up."""
        keep = self.recipe.keep or DEFAULT_KEEP
        recipe = self.recipe.model_copy(update={"keep": keep, "undecided": "top_up"})
        return {
            "run_id": run_id,
            "agent_name": self.agent,
            **recipe.declaration(),
            "budget_rollouts": self.budget.rollouts,
            "budget_tokens": self.budget.tokens,
        }


@dataclass(frozen=True)
class PlanResult:
    """The planned tasks, the cheapest decisions first."""

    run: CuratedRun
    plan: Path
    selection: Selection
    tasks: list[Row]
    outcomes: list[Outcome]

    @property
    def undecided_count(self) -> int:
        """Return how many tasks the rules cannot judge yet."""
        rows = self.selection.reasons
        return sum(row["task_count"] for row in rows if row["reason"] == "undecided")

    @property
    def rollout_count(self) -> int:
        """Return how many rollouts are planned."""
        return sum(task["more_rollouts"] for task in self.tasks)

    @property
    def token_count(self) -> float:
        """Return the output tokens that the planned rollouts are expected to take."""
        return float(sum(task["tokens"] or 0 for task in self.tasks))

    @property
    def expected_decisions(self) -> float:
        """Return how many of the planned tasks are expected to be decided."""
        return float(sum(task["chance"] for task in self.tasks))

    def as_data(self) -> dict[str, Any]:
        """Return the figures for scripts."""
        return {
            "run_id": self.run.run_id,
            "plan": str(self.plan),
            "undecided": self.undecided_count,
            "planned_tasks": len(self.tasks),
            "planned_rollouts": self.rollout_count,
            "planned_output_tokens": self.token_count,
            "expected_decisions": self.expected_decisions,
        }


def plan_rollouts(request: PlanRequest, listener: RunListener) -> PlanResult:
    """Write the plan that `spotter collect --plan` runs; an empty one if nothing is undecided."""
    if request.recipe.keep and request.recipe.keep.decided_on == "point":
        raise UsageError(
            "--plan needs `decided_on: interval`: with `point`, every task is decided already"
        )
    check_output(request.plan, is_overwriting=request.is_overwriting)
    run, outcomes = find_run(request, listener)
    with (
        log_defects("curate"),
        scratch_beside(request.warehouse, request.memory_limit) as (scratch, _),
    ):
        selection = select_tasks(
            scratch,
            request.warehouse,
            request.declaration(run.run_id),
            request.excluded_files,
            progress=lambda name: listener.progress(0, 0, name),
        )
        tasks = read_plan(scratch)
    with Drafts() as drafts:
        replaces = anything if request.is_overwriting else nothing
        with drafts.open(request.plan, replaces=replaces) as file:
            for task in tasks:
                file.write(orjson.dumps(_line(task, run)) + b"\n")
        drafts.publish()
    return PlanResult(run, request.plan, selection, tasks, outcomes)


def _line(task: Row, run: CuratedRun) -> dict[str, Any]:
    """Return a line of the plan: the number of repeats in all, and why."""
    return {
        "task_index": task["task_index"],
        "agent_name": task["agent_name"],
        "task_id": task["task_id"],
        "num_repeats": task["num_repeats"],
        "more_rollouts": task["more_rollouts"],
        "rollouts": task["rollout_count"],
        "passes": task["pass_count"],
        "chance_decided": task["chance"],
        "output_tokens": task["tokens"],
        "run_id": run.run_id,
    }
