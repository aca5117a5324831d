"""A run that is ready to be collected, and how a run continues from its files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from collector.atomic_files import Drafts
from collector.collection import record as records
from collector.collection.discovery import Servers, find_servers
from collector.collection.journal import Journal
from collector.collection.record import MaterializedRecord, Record
from collector.collection.requests import Request
from collector.collection.run_files import RunFiles
from collector.collection.settings import CollectOptions
from collector.collection.settings.connection import Connection
from collector.collection.state import (
    Expected,
    ResumeRules,
    RunState,
    open_requests,
    read_inputs,
    read_state,
)
from collector.errors import UsageError
from collector.gym_client import GymClient

Listener = Callable[[str], None]


@dataclass(kw_only=True)
class PreparedRun(ABC):
    """A run that is locked, repaired and checked, and whose new files are still drafts."""

    files: RunFiles
    journal: Journal
    drafts: Drafts
    record: Record
    rollout_counts: Counter[str]
    """All rollouts of the run, per agent."""
    state: RunState = field(default_factory=RunState)
    is_fresh: bool = True
    made_by: str = "collect"
    following: MaterializedRecord | None = None
    """The rows that take the place of those that have begun to run."""
    unplanned_count: int = 0
    """Missing rollouts that this session does not run, because they are not in its plan."""

    @abstractmethod
    async def find_servers(self, client: GymClient) -> Servers:
        """Return the addresses of the servers that run the rows; raise if one is unknown."""

    def requests(self, max_attempts: int) -> Iterator[Request]:
        """Yield the rollouts that must still run."""
        return open_requests(self.files.inputs, self.state, max_attempts)

    def publish(self) -> None:
        """Publish the materialized inputs and the record: the run has begun."""
        if self.is_fresh:
            # rollouts and failures first: once they are gone, a resume starts over in any case
            self.journal.empty()
            for path in (self.files.failures, self.files.aggregate, *self.files.torn()):
                path.unlink(missing_ok=True)
        if self.following:
            records.announce(self.files.record, self.record, self.following)
            self.record.materialized = self.following
        self.record.start(self.made_by)
        records.save_record(self.files.record, self.record, self.drafts)
        self.drafts.publish()


@dataclass(kw_only=True)
class PreparedCollection(PreparedRun):
    """A run whose rows go to agents and environment servers."""

    connection: Connection

    async def find_servers(self, client: GymClient) -> Servers:
        """Return the addresses of the agents and environment servers."""
        return await find_servers(self.rollout_counts, self.connection, client)


@dataclass(frozen=True)
class Resumption:
    """Continues a run from its files."""

    settings: CollectOptions
    files: RunFiles
    journal: Journal
    drafts: Drafts

    def run(
        self, record: Record, say: Listener, step: Listener, expected: Expected | None = None
    ) -> PreparedRun:
        """Return the run as its files say; `expected` are its rows, if they are read already."""
        settings, files = self.settings, self.files
        records.count_as(record, settings)
        records.stop_as(record, settings)
        repair_journals(files, self.journal, say)
        if expected is None:
            expected = read_inputs(self.drafts.current(files.inputs), step)
            self.check_inputs(record, expected)
        reading = ResumeRules(
            retry_timeouts=settings.retry_terminal_timeouts,
            longest_first=settings.dispatch_longest_first,
            pass_threshold=settings.pass_threshold if settings.until else None,
        )
        return PreparedCollection(
            connection=settings,
            files=files,
            journal=self.journal,
            drafts=self.drafts,
            record=record,
            rollout_counts=expected.rollout_counts,
            state=read_state(files.rollouts, files.failures, expected, step, reading),
            is_fresh=False,
        )

    def check_inputs(self, record: Record, expected: Expected) -> None:
        """Raise UsageError if the materialized inputs are not those of the record."""
        if not record.fits(expected.sha256):
            raise self.mismatch([f"{self.files.inputs} was changed since"])

    def mismatch(self, changes: list[str]) -> UsageError:
        """Return the error that the run was collected differently."""
        return cannot_resume(self.files, changes)


def repair_journals(files: RunFiles, rollouts: Journal, say: Listener) -> None:
    """Complete or set aside the unfinished last lines of rollouts and failures."""
    if message := rollouts.repair():
        say(message)
    if files.failures.exists():
        failures = Journal(files.failures)
        if message := failures.repair():
            say(message)
        failures.close()


def cannot_resume(files: RunFiles, changes: list[str]) -> UsageError:
    """Return the error that a run was made with other settings than those of now."""
    return UsageError(
        f"{files.rollouts} cannot be resumed: it was collected differently\n  "
        + "\n  ".join(changes)
        + "\n  what to do: resume with the same settings, start over with"
        " --overwrite, or give another output_jsonl_fpath"
    )
