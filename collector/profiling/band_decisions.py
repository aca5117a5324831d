"""Ask the models when the band of a task is decided, although every rollout is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from collector.profiling.manifest import STOPPING
from collector.profiling.plan import load_plan
from collector.temporary_files import temporary_folder
from collector.warehouse.access import SCRATCH
from collector.warehouse.scratch import log_defects, open_scratch


@dataclass(frozen=True)
class BandDecision:
    """The numbers of passes among some rollouts that decide a band."""

    rollout_count: int
    band: str
    least_passes: int
    most_passes: int


def band_decisions(most_rollouts: int, error_limit: float) -> list[BandDecision]:
    """Return every decision for up to so many rollouts, the first band of a task leading."""
    plan = load_plan()
    with (
        log_defects("collect"),
        temporary_folder() as folder,
        open_scratch(None, folder / "spill") as connection,
    ):
        connection.execute("set variable spotter_most_rollouts = ?::bigint", [most_rollouts])
        connection.execute("set variable spotter_error_limit = ?::double", [error_limit])
        for seed in plan.seeds:
            connection.execute(f"create table {seed.relation} as {seed.sql}")
        # not build_models: its connections do not have these variables
        for model in plan.room(STOPPING):
            connection.execute(f"create table {model.relation} as {model.sql}")
        rows = connection.execute(
            "select rollout_count, band, least_passes, most_passes"
            f" from {SCRATCH}.main.band_decisions order by rollout_count, precedence"
        ).fetchall()
    return [BandDecision(*row) for row in rows]
