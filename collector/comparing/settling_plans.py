"""Write plans that settle an inconclusive comparison: more rollouts of the common tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from collector.artifacts import file_paths
from collector.atomic_files import Drafts
from collector.comparing.request import ComparisonResult
from collector.comparing.results import SIDES, Comparison
from collector.errors import UsageError
from collector.jsonl import parse_object
from collector.remote_paths import is_remote
from collector.terminal import label, relative_path, say
from collector.terminal.blocks import Block, Line, Styled
from collector.warehouse.queries import open_read_only
from collector.warehouse.sql import Row, fetch_rows

TASKS = f"""
select task_id, baseline_task_index, task_index from task_comparisons
where {SIDES} and baseline_task_index is not null and task_index is not null
order by task_index, baseline_task_index
"""


FIELDS = {"task_index", "agent_name", "task_id", "num_repeats", "run_id"}


@dataclass(frozen=True)
class SettlingPlan:
    """A plan of one of the runs, and the rollouts file that it adds to."""

    path: Path
    rollouts: Path


def check_plan_path(path: Path) -> None:
    """Raise UsageError if something other than a plan stands where the plans are to be written."""
    for target in (path, _baseline_path(path)):
        if target.exists() and not _is_plan(target):
            raise UsageError(f"--plan {target}: the file exists already; give another path")


def write_settling_plans(path: Path, result: ComparisonResult) -> list[SettlingPlan]:
    """Write the plan of the candidate, and that of the baseline beside it, both or neither.

    Raise UsageError if the verdict is not inconclusive, or if more rollouts would not settle it.
    """
    comparison = _only_comparison(result)
    repeats = _repeats_needed(comparison)
    for side in (comparison.baseline, comparison.candidate):
        _refuse_scattered(side.run)
    one, other = comparison.baseline, comparison.candidate
    with open_read_only(result.warehouse, on_wait=say) as connection:
        names = (one.run_id, other.run_id, one.agent_name, other.agent_name)
        tasks = fetch_rows(connection, TASKS, *names)
    plans = {
        path: (other, "task_index"),
        _baseline_path(path): (one, "baseline_task_index"),
    }
    with Drafts() as drafts:
        for target, (side, index) in plans.items():
            lines = [
                {
                    "task_index": task[index],
                    "agent_name": side.agent_name,
                    "task_id": task["task_id"],
                    "num_repeats": repeats,
                    "run_id": side.run_id,
                }
                for task in tasks
            ]
            content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
            # the same plan may be there: of a command that was killed after it
            with drafts.open(target, replaces=partial(_has_content, content)) as file:
                file.write(content)
        drafts.publish()
    return [
        SettlingPlan(target, Path(side.run["rollouts_path"])) for target, (side, _) in plans.items()
    ]


def _baseline_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}_baseline{path.suffix}")


def _is_plan(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        try:
            return parse_object(file.readline()).keys() == FIELDS
        except ValueError:
            return False


def _has_content(content: bytes, path: Path) -> bool:
    return path.read_bytes() == content


def _refuse_scattered(run: Row) -> None:
    """Raise UsageError if no single local file has the rollouts that the plan adds to."""
    files = file_paths(run["rollouts_path"])
    if len(files) > 1 or is_remote(files[0]):
        raise UsageError(
            f"{label(run['run_id'])} is not in one local file, and a plan adds rollouts to one\n"
            "  what to do: copy the files to a disk, join shards with `spotter aggregate`, and"
            " profile the result"
        )


def _only_comparison(result: ComparisonResult) -> Comparison:
    if len(result.comparisons) != 1:
        raise UsageError(
            "--plan needs exactly two runs, and one agent of each: choose them with --agent-a and"
            " --agent-b"
        )
    return result.comparisons[0]


def _repeats_needed(comparison: Comparison) -> int:
    row = comparison.primary
    if row["verdict"] != "inconclusive":
        raise UsageError(
            f"the comparison with {label(comparison.baseline.run_id)} is settled"
            f" ({row['verdict']}): there is nothing to plan"
        )
    if not row["repeats_needed"]:
        raise UsageError(
            "more rollouts of these tasks would not settle the comparison: more tasks are needed"
        )
    return int(row["repeats_needed"])


def plan_blocks(plans: list[SettlingPlan]) -> list[Block]:
    """Lay out the commands that run the plans."""
    commands = [
        f"spotter collect --plan {relative_path(plan.path)} -o {relative_path(plan.rollouts)}"
        " --resume"
        for plan in plans
    ]
    return [
        Line(),
        Line("To settle it, run these plans, then compare again:"),
        *(Line(Styled(command, "command"), indent=2) for command in commands),
    ]
