"""Describe a collection: its files, and the counts that the command reports."""

from __future__ import annotations

from collector.artifacts import (
    AGGREGATE_SUFFIX,
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    default_run_id,
)
from collector.collection import report
from collector.collection.collected import Collected
from collector.uploading.content import Figures, Upload, bundle_files, describe_run
from collector.uploading.metric_names import safe_name

COUNTS = (
    "expected_rollout_count",
    "completed_rollout_count",
    "missing_rollout_count",
    "new_rollout_count",
    "refused_rollout_count",
    "spent_rollout_count",
    "unkept_rollout_count",
    "masked_rollout_count",
    "seconds",
)


def collected_upload(result: Collected) -> Upload:
    """Describe a collection that has ended, complete or not."""
    files = result.files
    run_id = default_run_id(files.rollouts)
    kept = {".jsonl": files.rollouts, INPUTS_SUFFIX: files.inputs, FAILURES_SUFFIX: files.failures}
    if result.aggregated:  # one of an earlier session may be out of date
        kept[AGGREGATE_SUFFIX] = result.aggregated.path
    return Upload(
        run_id=run_id,
        command="collect",
        settings={
            **describe_run(run_id, rollouts=files.rollouts, inputs=files.inputs),
            "status": result.status,
        },
        figures=_figures(result),
        bundles=bundle_files("rollouts", files.rollouts, kept),
        is_failed=result.status != "complete",
    )


def _figures(result: Collected) -> Figures:
    data = report.as_data(result)
    figures: Figures = {f"collect/{name}": data[name] for name in COUNTS}
    for kind, count in result.failures.items():
        figures[f"failed_attempts/{safe_name(kind)}"] = count
    for agent, tally in result.tallies.items():
        figures[f"rollouts/{safe_name(agent)}"] = tally.count
    return figures
