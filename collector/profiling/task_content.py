"""Tell which tasks some materialized rows are, as a profile does."""

from __future__ import annotations

from collections.abc import Iterable

from collector.artifacts import INPUTS_SUFFIX, Run
from collector.jsonl import dump, parse_object
from collector.keys import ROLLOUT, TASK, Key, row_key
from collector.profiling.batch import Batch
from collector.profiling.plan import load_plan
from collector.profiling.statistics import Statistics
from collector.temporary_files import temporary_folder
from collector.warehouse.access import SCRATCH
from collector.warehouse.scratch import log_defects, open_scratch

AGENT = "agent_ref"


def task_ids(lines: Iterable[bytes]) -> dict[Key, str]:
    """Return the `task_id` of each materialized row by its key.

    The rows are staged as a run of their own: the rule is that of the staging models.
    """
    with log_defects("collect"), temporary_folder() as folder:
        run = Run("rows", folder / "rows.jsonl", folder / f"rows{INPUTS_SUFFIX}", folder)
        with run.rollouts.open("wb") as rollouts, run.inputs.open("wb") as inputs:
            for line in lines:
                row = parse_object(line)
                task, rollout = row_key(row)
                stub = {TASK: task, ROLLOUT: rollout, AGENT: row.get(AGENT), "reward": 0.0}
                inputs.write(line.strip() + b"\n")
                rollouts.write(dump(stub) + b"\n")
        with open_scratch(None, folder / "spill") as connection:
            batch = Batch(
                plan=load_plan(),
                connection=connection,
                is_partial_allowed=True,
                statistics=Statistics(),
                folder=folder,
                links=folder,
                progress=lambda _: None,
            )
            batch.read([run])
            found = connection.execute(
                f"select task_index, rollout_index, task_id from {SCRATCH}.staging.stg_samples"
                " where is_readable"
            ).fetchall()
    return {(task, rollout): task_id for task, rollout, task_id in found}
