"""A run that is ready to be collected, and how a run continues from its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from collector.atomic_files import Drafts
from collector.collection import record as records
from collector.collection.journal import Journal
from collector.collection.record import MaterializedRecord, Record
from collector.collection.run_files import RunFiles
from collector.collection.settings import CollectOptions
from collector.collection.state import Expected, ResumeRules, RunState, read_inputs, read_state
from collector.errors import UsageError

Listener = Callable[[str], None]


@dataclass
class PreparedRun:
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
        self._repair(say)
        if expected is None:
            expected = read_inputs(self.drafts.current(files.inputs), step)
            self.check_inputs(record, expected)
        reading = ResumeRules(
            retry_timeouts=settings.retry_terminal_timeouts,
            longest_first=settings.dispatch_longest_first,
            pass_threshold=settings.pass_threshold if settings.until else None,
        )
        return PreparedRun(
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
        return UsageError(
            f"{self.files.rollouts} cannot be resumed: it was collected differently\n  "
            + "\n  ".join(changes)
            + "\n  what to do: resume with the same settings, start over with"
            " --overwrite, or give another output_jsonl_fpath"
        )

    def _repair(self, say: Listener) -> None:
        if message := self.journal.repair():
            say(message)
        if self.files.failures.exists():
            failures = Journal(self.files.failures)
            if message := failures.repair():
                say(message)
            failures.close()
