"""Profile runs: read and audit their files, build the marts, write the output files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import duckdb

from collector.artifacts import Run
from collector.atomic_files import Drafts
from collector.errors import FileError, InvariantError, SpotterError, UsageError
from collector.profiling import marts, publish
from collector.profiling.batch import Batch
from collector.profiling.headlines import Headlines, read_headlines
from collector.profiling.kept_rows import keep_rows, shards_among
from collector.profiling.known_runs import merged_tags, refuse_outdated, set_tags
from collector.profiling.manifest import Plan
from collector.profiling.plan import load_plan
from collector.profiling.problems import RunProblem
from collector.profiling.statistics import Statistics
from collector.remote_paths import is_remote
from collector.temporary_files import temporary_folder
from collector.warehouse.access import WAREHOUSE, check_warehouse, is_duckdb, transaction
from collector.warehouse.scratch import log_defects, reading_stores, scratch_beside
from collector.warehouse.sql import Row, fetch_rows


@dataclass(frozen=True)
class ProfileSettings:
    """The warehouse to write to, the strictness, the statistics, and the memory for DuckDB."""

    warehouse: Path
    is_partial_allowed: bool = False
    memory_limit: str | None = None
    statistics: Statistics = field(default_factory=Statistics)
    is_published: bool = True
    """Whether to write NeMo Gym's output files too, not only the warehouse."""
    skips_broken: bool = False
    """Whether to profile the other runs if some are broken."""
    are_shards: bool = False
    """Whether all runs are shards. A run that the collector recorded as a part always is one."""
    repeated: Mapping[str, datetime] = field(default_factory=dict)
    """When the runs whose settings are repeated were last profiled."""


@dataclass(frozen=True)
class Outcome:
    """The profiled runs with the rows of the marts that the command reports."""

    warehouse: Path
    is_new_warehouse: bool
    runs: list[Run]
    completion: dict[str, Row]
    agents: dict[str, list[Row]]
    headlines: dict[str, Headlines]
    statistics: Statistics = field(default_factory=Statistics)
    unpriced: list[Row] = field(default_factory=list)
    """The number of measured rollouts without a cost, by run and model; empty without prices."""
    is_published: bool = True
    overviews: list[Row] = field(default_factory=list)
    """A line for each run and agent, for a table of many runs."""
    broken: list[RunProblem] = field(default_factory=list)
    """The problems of the runs that were skipped."""


class BrokenRunsError(SpotterError):
    """At least one run cannot be profiled: nothing was written for any run, or for this one."""

    def __init__(
        self, problems: list[RunProblem], *, run_count: int, are_skipped: bool = False
    ) -> None:
        """Build the message from the problems; the highest exit code among them is used."""
        messages = [problem.message for problem in problems]
        if run_count > 1:
            messages.append(_broken_text(len(problems), run_count, are_skipped=are_skipped))
        super().__init__("\n".join(messages))
        self.problems = problems
        codes = [problem.exit_code for problem in problems]
        self.exit_code = InvariantError.exit_code if are_skipped else max(codes)
        self._messages = messages

    @property
    def messages(self) -> list[str]:
        """Return a message for each broken run, and how many there are."""
        return self._messages


def _broken_text(broken: int, total: int, *, are_skipped: bool) -> str:
    verb, past = ("is", "was") if broken == 1 else ("are", "were")
    start = f"{broken} of {total} runs {verb} broken"
    if are_skipped:
        return f"{start} and {past} skipped; the other {total - broken} are profiled"
    hint = "\n  what to do: correct the files, or profile the other runs with --skip-broken"
    return f"{start}; nothing was written{hint if broken < total else ''}"


@dataclass
class StepCounter:
    """Tell a listener the number and the name of each step as it begins."""

    listener: Callable[[int, int, str], None]
    total: int
    done: int = field(default=0)

    def __call__(self, name: str) -> None:
        """Announce the next step."""
        self.done = min(self.done + 1, self.total)
        self.listener(self.done, self.total, name)


def profile(
    runs: list[Run], settings: ProfileSettings, *, listener: Callable[[int, int, str], None]
) -> Outcome:
    """Profile the runs together: all of them or none if one is broken, unless those are skipped."""
    good, broken = runs, list[RunProblem]()
    while True:
        try:
            outcome = _profile_together(good, settings, listener=listener)
        except BrokenRunsError as error:
            paths = {problem.run.rollouts for problem in error.problems}
            rest = [run for run in good if run.rollouts not in paths]
            if not (settings.skips_broken and rest):
                raise
            broken += error.problems
            good = rest
        else:
            return replace(outcome, broken=broken)


def _profile_together(
    runs: list[Run], settings: ProfileSettings, *, listener: Callable[[int, int, str], None]
) -> Outcome:
    settings.statistics.check()
    _check_paths(runs, settings.warehouse)
    listener(0, 0, "preparing the models (only the first time takes long)")
    plan = load_plan()
    built = plan.batch("staging", "audits", "intermediate", "marts")
    steps = StepCounter(listener, total=len(built) + len(plan.checks))
    shards = shards_among(runs, are_all=settings.are_shards)
    with (
        log_defects("profile"),
        scratch_beside(settings.warehouse, settings.memory_limit) as (connection, folder),
        temporary_folder() as links,
        reading_stores(connection, [path for run in runs for path in (run.rollouts, run.inputs)]),
    ):
        batch = Batch(
            plan=plan,
            connection=connection,
            is_partial_allowed=settings.is_partial_allowed,
            statistics=settings.statistics,
            folder=folder,
            links=links,
            progress=steps,
            is_shard=bool(shards),
        )
        problems = batch.read(runs)
        if problems:
            raise BrokenRunsError(problems, run_count=len(runs))
        batch.match()
        return _write_runs(Writer(plan, connection, steps), runs, settings, shards)


def _check_paths(runs: list[Run], warehouse: Path) -> None:
    """Raise an error if the warehouse and the files of the runs cannot be what they should be."""
    check_warehouse(warehouse)
    for run in runs:
        if not is_remote(run.rollouts) and is_duckdb(run.rollouts):
            raise UsageError(f"{run.rollouts} is a DuckDB file, not a rollouts file")
        if warehouse in (run.rollouts, run.inputs, run.failures, *run.outputs):
            raise UsageError(
                f"{warehouse} cannot be the warehouse: it is a file of the run {run.run_id}"
            )


@dataclass(frozen=True)
class Writer:
    """What writing needs: the plan, the connection that holds the staged rows, and the steps."""

    plan: Plan
    connection: duckdb.DuckDBPyConnection
    steps: StepCounter

    def write_marts(self) -> None:
        """Replace the rows of the batch in every mart of the attached warehouse, and test them."""
        marts.build_marts(self.connection, self.plan, progress=self.steps)
        marts.run_checks(self.connection, self.plan, progress=self.steps)


def _write_runs(
    writer: Writer, runs: list[Run], settings: ProfileSettings, shards: Mapping[str, str | None]
) -> Outcome:
    def fill() -> None:
        # the warehouse is locked from here on: what was read of it before may be outdated
        refuse_outdated(writer.connection, runs, settings.repeated)
        tags = merged_tags(writer.connection, runs)
        keep_rows(writer.connection, writer.plan, shards)
        writer.write_marts()
        set_tags(writer.connection, tags)

    return write_runs(writer, runs, settings, fill=fill)


def write_runs(
    writer: Writer, runs: list[Run], settings: ProfileSettings, *, fill: Callable[[], None]
) -> Outcome:
    """Have `fill` write the marts in one transaction, and write the output files.

    The files appear only once the marts are complete.
    """
    is_new = not settings.warehouse.exists()
    connection, steps = writer.connection, writer.steps
    with Drafts() as drafts:
        with transaction(
            connection, settings.warehouse, on_wait=lambda text: steps.listener(0, 0, text)
        ):
            marts.prepare(connection, writer.plan, settings.warehouse)
            fill()
            for run in runs if settings.is_published else ():
                if run.has_local_outputs:
                    publish.write_run(connection, run, drafts)
            outcome = _outcome(connection, runs, settings, is_new=is_new)
        try:
            drafts.publish()
        except FileError as error:
            raise FileError(
                f"the warehouse has the runs, but an output file could not be written: {error}\n"
                "  what to do: correct the cause and profile again"
            ) from error
    return outcome


def _outcome(
    connection: duckdb.DuckDBPyConnection,
    runs: list[Run],
    settings: ProfileSettings,
    *,
    is_new: bool,
) -> Outcome:
    ids = [run.run_id for run in runs]
    completion = fetch_rows(
        connection,
        f"select * from {WAREHOUSE}.main.runs where list_contains(?, run_id)",
        ids,
    )
    agents = fetch_rows(
        connection,
        f"select * from {WAREHOUSE}.main.agent_metrics"
        " where list_contains(?, run_id) order by run_id, agent_name, metric",
        ids,
    )
    return Outcome(
        warehouse=settings.warehouse,
        is_new_warehouse=is_new,
        runs=runs,
        completion={row["run_id"]: row for row in completion},
        agents={run_id: [row for row in agents if row["run_id"] == run_id] for run_id in ids},
        headlines={run_id: read_headlines(connection, run_id) for run_id in ids},
        statistics=settings.statistics,
        unpriced=_unpriced_rollouts(connection, ids) if settings.statistics.prices else [],
        is_published=settings.is_published,
        overviews=fetch_rows(
            connection,
            f"select * from {WAREHOUSE}.main.run_overviews where list_contains(?, run_id)"
            " order by run_id, agent_name",
            ids,
        )
        if len(runs) > 1
        else [],
    )


def _unpriced_rollouts(connection: duckdb.DuckDBPyConnection, run_ids: list[str]) -> list[Row]:
    return fetch_rows(
        connection,
        f"""
        select run_id, model_name, count(*) as rollout_count
        from {WAREHOUSE}.main.rollout_infos
        where list_contains(?, run_id) and is_measured and cost is null
        group by all order by run_id, rollout_count desc, model_name
        """,
        run_ids,
    )
