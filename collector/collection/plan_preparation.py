"""Prepare a run to which a plan adds repeats."""

from __future__ import annotations

from collector.artifacts import sha256_of
from collector.collection import record as records
from collector.collection.planned_repeats import PlannedRepeats
from collector.collection.plans import read_plan
from collector.collection.prepared_runs import Listener, PreparedRun, Resumption
from collector.collection.record import MaterializedRecord, PlanRecord
from collector.collection.run_files import refuse_absent_run
from collector.collection.settings import PlanSettings
from collector.collection.state import Expected, read_inputs
from collector.terminal import counted_noun


def planned_run(
    settings: PlanSettings, resumption: Resumption, say: Listener, step: Listener
) -> PreparedRun:
    """Return the run with the repeats of its plan; raise an error if the plan does not fit it."""
    files = resumption.files
    refuse_absent_run(files)
    plan = read_plan(settings.plan)
    old = records.load_record(files.record)
    if old and old.origin:
        raise resumption.mismatch(["it was made by `spotter reverify`: plan for the run before it"])
    repeats = PlannedRepeats(plan, old.settings.num_repeats_add_seed if old else None)
    expected = read_inputs(files.inputs, step, repeats.visit)
    record = old or records.found_record(
        expected.sha256, task_count=expected.keys.task_count, rollout_count=expected.keys.count
    )
    resumption.check_inputs(record, expected)
    repeats.decide(files.inputs)
    following = None
    if repeats.added:
        following = _add_planned_rows(record.materialized, repeats, expected, resumption)
        added = counted_noun(len(repeats.added), "rollout")
        say(f"{settings.plan} adds {added} to the run")
    else:
        say(f"{settings.plan} adds no rollouts: the run has as many repeats as it asks for")
    run = resumption.run(record, say, step, expected)
    run.following = following
    run.state.chosen = repeats.chosen
    missing_count = expected.keys.count - run.state.done.count
    planned_count = repeats.chosen.count - repeats.chosen.count_shared(run.state.done)
    run.unplanned_count = missing_count - planned_count
    return run


def _add_planned_rows(
    materialized: MaterializedRecord,
    repeats: PlannedRepeats,
    expected: Expected,
    resumption: Resumption,
) -> MaterializedRecord:
    """Draft the inputs with the new rows, expect them too, and describe the file."""
    sha256 = repeats.write(resumption.files.inputs, resumption.drafts)
    for key, runner in repeats.new_keys():
        expected.keys.add(key)
        expected.rollout_counts[runner] += 1
    plan = PlanRecord(
        path=records.path_text(repeats.plan.path),
        sha256=sha256_of(repeats.plan.path),
        added_rollout_count=len(repeats.added),
    )
    return materialized.model_copy(
        update={
            "sha256": sha256,
            "rollout_count": expected.keys.count,
            "plans": [*materialized.plans, plan],
        }
    )
