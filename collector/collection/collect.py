"""Collect a run: from settings to artifacts on disk."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from collector.atomic_files import Drafts
from collector.collection import record as records
from collector.collection.aggregate import Aggregation
from collector.collection.budget import Budget
from collector.collection.collected import Collected
from collector.collection.discovery import Servers, reach
from collector.collection.dispatch import Dispatcher, Policy
from collector.collection.head_config import capture_warnings
from collector.collection.identity import identity_of
from collector.collection.journal import Journal, Syncer
from collector.collection.outcomes import Failure, Outcome, RolloutAnswer
from collector.collection.prepare import prepared_run
from collector.collection.prepared_runs import PreparedRun
from collector.collection.progress import CollectProgress
from collector.collection.requests import Request
from collector.collection.routing import label_of
from collector.collection.settings import (
    CallSettings,
    CollectSettings,
    PlanSettings,
)
from collector.collection.settings.stopping import StoppingSettings
from collector.collection.stopping import Stop
from collector.errors import ServerError, SpotterError
from collector.failure_causes import Causes
from collector.gym_client import GymClient
from collector.open_files import SPARE_DESCRIPTORS, allow_connections

if TYPE_CHECKING:
    from collector.collection.early_stopping import EarlyStopping

REFRESH_SECONDS = 0.25
REACH_SECONDS = 5.0
SHOWN_CHARACTERS = 400


def collect(
    settings: CollectSettings | PlanSettings,
    progress: CollectProgress,
    *,
    drafts: Drafts | None = None,
    made_by: str = "collect",
) -> Collected:
    """Collect a run; every completed rollout is on disk, even if an error is raised.

    `drafts` are files that are published when the run begins, such as its tasks. `made_by` is the
    name of the command, for the record.
    """
    with (
        Drafts() if drafts is None else contextlib.nullcontext(drafts) as held,
        prepared_run(settings, held, say=progress.say, step=progress.step) as run,
    ):
        run.made_by = made_by
        return collect_prepared(settings, run, progress)


def collect_prepared(
    settings: CallSettings, run: PreparedRun, progress: CollectProgress
) -> Collected:
    """Collect a run that is ready: call its servers until every open rollout is done."""
    return asyncio.run(_Collection(settings, run, progress).collect())


class _Collection:
    """One session of a run."""

    def __init__(self, settings: CallSettings, run: PreparedRun, progress: CollectProgress) -> None:
        self._settings = settings
        self._run = run
        self._progress = progress
        self._note = ""
        self._abandon: Callable[[], object] = lambda: None
        self._is_aggregating = False
        self._causes = Causes()
        self._early: EarlyStopping | None = None
        self._stop = Stop(Budget(settings.dispatch_budget_s, settings.drain_margin_s))
        self.result = Collected(
            files=run.files,
            expected_count=run.rollout_counts.total(),
            completed_count=run.state.done.count,
            tallies=run.state.tallies,
            unplanned_count=run.unplanned_count,
        )

    async def collect(self) -> Collected:
        result = self.result
        async with GymClient() as client:
            servers = await self._run.find_servers(client)
            # before anything is written or removed
            await reach(servers, client, patience=REACH_SECONDS)
            for line in capture_warnings(servers.config, servers.urls):
                self._progress.say(line)
            parallel = self._parallel(self._settings.num_samples_in_parallel)
            self._early = self._early_stopping(parallel)
            self._run.record.identity = identity_of(servers) or self._run.record.identity
            self._run.publish()
            result.completed_count = self._run.state.done.count
            failures = Journal(self._run.files.failures)
            started = time.monotonic()
            self._progress.start(result.completed_count)
            with self._signals():
                try:
                    await self._run_rollouts(servers, client, failures, parallel)
                except BaseException:
                    self._progress.clear()
                    with contextlib.suppress(SpotterError):  # the first error says more
                        self._finish(failures)
                    raise
                self._progress.clear()
                result.error = self._stop.error
                result.is_out_of_time = self._stop.is_out_of_time
                self._finish(failures)
                result.seconds = time.monotonic() - started
                if result.signal is None and result.error is None:
                    await self._aggregate(servers, client)
        return result

    def _parallel(self, wanted: int) -> int:
        allowed = allow_connections(wanted)
        if allowed < wanted:
            self._progress.say(
                f"warning: this system allows only {allowed + SPARE_DESCRIPTORS} open files, so"
                f" {allowed} rollouts at once"
            )
        return allowed

    def _early_stopping(self, parallel: int) -> EarlyStopping | None:
        settings = self._settings
        rule = settings.stopping_rule if isinstance(settings, StoppingSettings) else None
        if rule is None:
            return None
        # DuckDB takes a moment to import
        from collector.collection.early_stopping import EarlyStopping

        self._progress.step("reading what is decided")
        attempts = self._settings.max_attempts
        early = EarlyStopping(rule, self._run, parallel=parallel, max_attempts=attempts)
        self.result.save(early.savings())
        return early

    async def _run_rollouts(
        self, servers: Servers, client: GymClient, failures: Journal, parallel: int
    ) -> None:
        state, settings = self._run.state, self._settings
        policy = Policy(
            parallel=parallel,
            request_timeout=settings.request_timeout,
            max_attempts=settings.max_attempts,
            # every server was reached: one that does not answer now may be restarting
            patience_at_start=Policy.patience,
        )

        dispatcher = Dispatcher(
            servers, client, policy, self._stop, has_success=state.done.count > 0
        )
        self._abandon = dispatcher.abandon
        requests: Iterator[Request | asyncio.Event] = (
            self._early.requests if self._early else self._run.requests(settings.max_attempts)
        )
        syncer = Syncer([self._run.journal, failures])
        helpers = [
            asyncio.create_task(helper)
            for helper in (
                syncer.run(),
                self._refresh(dispatcher),
                self._end_grace(dispatcher),
                self._end_budget(),
            )
        ]
        try:
            async with contextlib.aclosing(dispatcher.run(requests)) as outcomes:
                async for outcome in outcomes:
                    self._keep(outcome, failures)
                    syncer.note()
                    if helpers[0].done():
                        helpers[0].result()  # the disk failed
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.wait(helpers)

    def _keep(self, outcome: Outcome, failures: Journal) -> None:
        """Write an outcome to its file, and count it."""
        result, request = self.result, outcome.request
        if isinstance(outcome, RolloutAnswer):
            if not self._run.state.done.add(request.key):
                return
            self._run.journal.append(outcome.line)
            self._run.state.tally(str(label_of(request.stamps))).add(outcome.row)
            result.completed_count += 1
            result.new_count += 1
        elif isinstance(outcome, Failure):
            failures.append(outcome.line)
            result.failures[outcome.kind] += 1
            result.last_failure = f"{outcome.kind}: {outcome.message[:SHOWN_CHARACTERS]}"
            self._run.state.note_failure(request.key, is_terminal=outcome.is_terminal)
            self._tell_cause(outcome)
        else:
            result.unkept_count += 1
        if self._early:
            self._early.note(outcome)
            self.result.save(self._early.savings())

    def _tell_cause(self, failure: Failure) -> None:
        """Say why a rollout failed, if no other failed like it."""
        if self._causes.is_new(f"\n{failure.cause}\n{failure.message}"):
            lines = [f"failed: {failure.message}", *failure.cause.splitlines()]
            self._progress.say("\n  ".join(lines))

    async def _refresh(self, dispatcher: Dispatcher) -> None:
        while True:
            self._progress.show(
                done=self.result.completed_count,
                expected=self.result.expected_count,
                failures=self.result.failures,
                tallies=self.result.tallies,
                note=self._note or dispatcher.away_note,
            )
            await asyncio.sleep(REFRESH_SECONDS)

    async def _end_grace(self, dispatcher: Dispatcher) -> None:
        await self._stop.wait()
        left, grace = self._stop.budget.seconds_left, self._settings.grace_period
        if (
            left is not None
        ):  # no rollout may outlive the budget: the machine may be taken away then
            grace = left if self._stop.is_out_of_time else min(grace, left)
        await asyncio.sleep(max(grace, 0.0))
        dispatcher.abandon()

    async def _end_budget(self) -> None:
        left = self._stop.budget.seconds_left
        if left is not None:
            await asyncio.sleep(left)
            self._stop.ask_in_time()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """On the first signal, finish the rollouts in flight; on the second, stop at once."""
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def handle(number: int) -> None:
            if self.result.signal is not None or self._is_aggregating:
                self.result.signal = self.result.signal or number
                self._abandon()
                return
            self.result.signal = number
            self._stop.ask()
            self._note = "stopping"
            self._progress.say(
                f"stopping: waiting up to {self._settings.grace_period:g} s for rollouts in flight;"
                " once more stops at once"
            )

        wakeup = signal.set_wakeup_fd(-1)
        for number in before:
            loop.add_signal_handler(number, handle, number)
        try:
            yield
        finally:
            # the demo goes on with its profile, and asyncio would leave Python's own handlers
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)

    def _finish(self, failures: Journal) -> None:
        """Force everything to the disk and note how the session ended."""
        failures.close()
        if failures.is_empty():
            self._run.files.failures.unlink(missing_ok=True)
        self._run.journal.sync()
        self._run.journal.check_identity()
        counts = self._run.state.count_given_up(self._settings.max_attempts)
        self.result.terminal_count, self.result.spent_count = counts
        if self._early:
            self._early.end(self._run, is_done=not self.result.open_count)
        self._run.record.end(self.result.status, self.result.completed_count)
        records.save_record(self._run.files.record, self._run.record, self._run.drafts)
        self._run.drafts.publish()

    async def _aggregate(self, servers: Servers, client: GymClient) -> None:
        settings = self._settings
        if settings.disable_aggregation:
            return
        if not (self.result.completed_count or settings.counts_any):
            return
        self._progress.step("asking the agents for their own metrics")
        rollouts = self._run.files.rollouts
        aggregation = Aggregation(
            [rollouts], rollouts, servers, client, settings.request_timeout, settings
        )
        task = asyncio.create_task(aggregation.run())
        self._is_aggregating = True
        self._abandon = task.cancel
        try:
            self.result.aggregated = await task
        except SpotterError as error:
            self.result.aggregation_error = error
        except asyncio.CancelledError:
            if self.result.signal is None:
                raise
            self.result.aggregation_error = ServerError("you stopped it")
        finally:
            self._progress.clear()
