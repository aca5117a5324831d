"""Merge warehouses: join the runs that are in several as shards, and copy the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.artifacts import Run, default_inputs, refuse_shared_outputs
from collector.errors import UsageError
from collector.merging import agreement
from collector.merging.joining import ChosenRuns, combine_runs, read_rows, replace_copied_runs
from collector.merging.shard_files import Shard, check_shards, read_shard
from collector.profiling.building import build_models, build_seeds, match_rollouts
from collector.profiling.field_names import check_fields
from collector.profiling.kept_rows import forget_kept_rows
from collector.profiling.known_runs import Tags, set_tags, warehouse_tags
from collector.profiling.plan import load_plan
from collector.profiling.profile import Outcome, ProfileSettings, StepCounter, Writer, write_runs
from collector.profiling.statistics import ANSWER_FIELD, PRICE_FIELDS, PriceList, Statistics
from collector.remote_paths import refuse_remote
from collector.warehouse.access import check_warehouse
from collector.warehouse.scratch import log_defects, reading_stores, scratch_beside


@dataclass(frozen=True)
class MergeSettings:
    """The warehouse to write, the folder for output files, the strictness, and the memory."""

    warehouse: Path
    output_dir: Path | None = None
    is_partial_allowed: bool = False
    """Whether parts of a run may be missing."""
    memory_limit: str | None = None
    runs: tuple[Run, ...] = ()
    """The runs to take, with the paths of their files. Without any, all are taken, and their files
    are named after them."""
    is_published: bool = True
    """Whether to write NeMo Gym's output files too, not only the warehouse."""


@dataclass(frozen=True)
class Merged:
    """The runs that the warehouse has now, and where they come from."""

    outcome: Outcome
    shard_count: int
    joined: dict[str, int]
    """The number of shards of each run that was joined."""
    copied: list[str]
    """The runs that only one of the warehouses had."""
    lone_shards: list[str]
    """Those of them that were profiled as shards, so that others may be missing."""


def merge(
    paths: Sequence[Path], settings: MergeSettings, *, listener: Callable[[int, int, str], None]
) -> Merged:
    """Write the runs of all warehouses into one, in one transaction.

    Raise an error, and write nothing, if the shards of a run do not belong together.
    """

    def wait(text: str) -> None:
        listener(0, 0, text)

    check_shards(paths, settings.warehouse)
    check_warehouse(settings.warehouse)
    if settings.output_dir:
        refuse_remote(settings.output_dir, "the output files")
    wait("preparing the models (only the first time takes long)")
    plan = load_plan()
    built = plan.batch("audits", "intermediate", "marts")
    steps = StepCounter(listener, total=len(paths) + len(built) + len(plan.checks))
    with (
        log_defects("merge"),
        scratch_beside(settings.warehouse, settings.memory_limit) as (connection, _),
        reading_stores(connection, paths),
    ):
        shards = [read_shard(connection, path, on_wait=wait) for path in paths]
        merging = _Merging(Writer(plan, connection, steps), wait, shards, settings.runs)
        merging.check(is_partial_allowed=settings.is_partial_allowed)
        return merging.write(settings)


@dataclass(frozen=True)
class _Merging:
    """The warehouses of one merge, and what it works with."""

    writer: Writer
    wait: Callable[[str], None]
    shards: list[Shard]
    chosen: tuple[Run, ...]

    def holders(self) -> dict[str, list[Shard]]:
        """Return the warehouses that have each run."""
        wanted = {run.run_id for run in self.chosen}
        found = {run_id for shard in self.shards for run_id in shard.runs}
        run_ids = sorted(found & wanted if wanted else found)
        return {
            run_id: [shard for shard in self.shards if run_id in shard.runs] for run_id in run_ids
        }

    def runs_in_several(self) -> dict[str, list[Shard]]:
        """Return the shards of each run that is in several warehouses."""
        return {run_id: held for run_id, held in self.holders().items() if len(held) > 1}

    def check(self, *, is_partial_allowed: bool) -> None:
        """Raise an error if the shards of a run do not belong together."""
        if not self.holders():
            raise UsageError("the warehouses have no runs")
        for run_id, held in self.runs_in_several().items():
            agreement.check_kept(run_id, held, self.writer.plan)
            agreement.check_settings(run_id, held)
        for run_id, held in self.holders().items():
            agreement.check_parts(run_id, held, is_partial_allowed=is_partial_allowed)
        agreement.check_prices(self.runs_in_several())

    def write(self, settings: MergeSettings) -> Merged:
        """Join the runs, and write them and the others."""
        joined, holders = self.runs_in_several(), self.holders()
        chosen = ChosenRuns([*joined], [run_id for run_id in holders if run_id not in joined])
        self._stage(chosen)

        def fill() -> None:
            tags = self._tags()
            forget_kept_rows(self.writer.connection, holders)
            if chosen.copied:
                replace_copied_runs(self.writer, chosen.copied)
            if chosen.joined:
                self.writer.write_marts()
            set_tags(self.writer.connection, tags)

        outcome = write_runs(
            self.writer,
            list(self.chosen) or _planned_runs(holders, settings.output_dir),
            ProfileSettings(
                settings.warehouse,
                statistics=_statistics(joined),
                is_published=settings.is_published,
            ),
            fill=fill,
        )
        counts = {run_id: len(held) for run_id, held in joined.items()}
        lone = [run_id for run_id in chosen.copied if run_id in holders[run_id][0].kept]
        return Merged(outcome, len(self.shards), counts, chosen.copied, lone)

    def _tags(self) -> Tags:
        """Return the tags of each run: those that it has in the warehouse, and the shards'."""
        known = warehouse_tags(self.writer.connection)
        return {
            run_id: {**known.get(run_id, {}), **agreement.combined_tags(run_id, held)}
            for run_id, held in self.holders().items()
        }

    def _stage(self, chosen: ChosenRuns) -> None:
        """Read the rows of the shards, and build the models that the marts of joined runs read."""
        connection, plan, steps = self.writer.connection, self.writer.plan, self.writer.steps
        read_rows(self.writer, self.shards, chosen, on_wait=self.wait)
        if not chosen.joined:
            return
        combine_runs(connection)
        check_fields(connection, _statistics(self.runs_in_several()), None)
        build_seeds(connection, plan)
        build_models(connection, plan.layer("audits"), progress=steps)
        match_rollouts(connection, plan, keeps_staging=False, progress=steps)


def _planned_runs(run_ids: Iterable[str], output_dir: Path | None) -> list[Run]:
    """Return the runs with the paths of their output files, which their names decide."""
    folder = (output_dir or Path()).absolute()
    runs = []
    for run_id in run_ids:
        rollouts = folder / f"{run_id.replace('/', '-')}.jsonl"
        runs.append(Run(run_id, rollouts, default_inputs(rollouts), folder, has_given_name=True))
    if output_dir:
        refuse_shared_outputs(runs)
    return runs


def _statistics(joined: dict[str, list[Shard]]) -> Statistics:
    """Return the settings of the joined runs, as far as the report and the checks need them."""
    runs = [(held[0].kept[run_id], held[0].prices[run_id]) for run_id, held in joined.items()]
    prices = [rows for _, rows in runs if rows]
    fields = [kept["answer_field"] for kept, _ in runs if kept["answer_field"] != ANSWER_FIELD]
    return Statistics(
        answer_field=fields[0] if fields else None,
        slice_by=tuple(dict.fromkeys(name for kept, _ in runs for name in kept["slice_by"])),
        prices=PriceList("", tuple(tuple(row[name] for name in PRICE_FIELDS) for row in prices[0]))
        if prices
        else None,
    )
