"""Prepare a reverification: read the stored run, draft the new one, decide what to verify."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from collector.artifacts import sha256_of
from collector.atomic_files import Drafts, anything
from collector.collection import record as records
from collector.collection.discovery import Servers
from collector.collection.journal import Journal
from collector.collection.prepare import locked_journal
from collector.collection.prepared_runs import (
    Listener,
    PreparedRun,
    cannot_resume,
    repair_journals,
)
from collector.collection.record import FileRecord, Origin, Record
from collector.collection.requests import Request
from collector.collection.reverification.drafted_inputs import DraftedInputs
from collector.collection.reverification.stored_rollouts import StoredRollouts, read_stored
from collector.collection.reverification.verifiers import STATELESS, Verifiers, refuse_unsafe
from collector.collection.reverification.verify_requests import verify_request
from collector.collection.routing import label_of
from collector.collection.rows import keyed_rows
from collector.collection.run_files import RunFiles, already_collected, refuse_both
from collector.collection.settings import ReverifySettings
from collector.collection.state import ResumeRules, RunState, open_requests, read_inputs, read_state
from collector.errors import FileError, InvariantError, UsageError
from collector.gym_client import GymClient
from collector.terminal import counted_noun

NEXT_STEP = "then verify again"


@dataclass(frozen=True)
class StoredRun:
    """The files of the run whose rollouts are verified again; they are only read."""

    rollouts: Path
    inputs: Path
    failures: Path
    record: Record | None


@dataclass(kw_only=True)
class PreparedReverification(PreparedRun):
    """A run whose rows go to resources servers, with the responses of stored rollouts."""

    settings: ReverifySettings
    origin: Origin
    stored_run: StoredRun
    stored: StoredRollouts
    made_by: str = "reverify"

    async def find_servers(self, client: GymClient) -> Servers:
        """Return the addresses of the resources servers; raise if one must not be called."""
        verifiers = Verifiers(self.settings, client)
        servers = await verifiers.find(self.rollout_counts)
        found = await verifiers.describe(self.rollout_counts)
        if not self.settings.force:
            refuse_unsafe(found)
        if not self.is_fresh:
            self._refuse_changed(found)
        self.origin.verifiers = found
        self.origin.is_unsafe |= any(one.reverify_mode != STATELESS for one in found.values())
        return servers

    def requests(self, max_attempts: int) -> Iterator[Request]:
        """Yield the rollouts that must still be verified."""
        with self.stored.open() as find:
            for row in open_requests(self.files.inputs, self.state, max_attempts):
                if rollout := find(row.key):
                    yield verify_request(row.line, rollout, attempt=row.attempt)

    def publish(self) -> None:
        """Publish the inputs and the record, and copy the rollouts that keep their verdict."""
        super().publish()
        if not self.stored.carried.count:
            return
        for _, key, row, text in keyed_rows(self.stored_run.rollouts, next_step=NEXT_STEP):
            if key in self.stored.carried and self.state.done.add(key):
                self.journal.append(text)
                self.state.tally(str(label_of(row))).add(row)

    def _refuse_changed(self, found: dict[str, records.Verifier]) -> None:
        changes = [
            f"the config of the resources server {name} is another one now"
            for name, before in self.origin.verifiers.items()
            if name not in found or found[name].config_sha256 != before.config_sha256
        ]
        if changes:
            raise cannot_resume(self.files, changes)


@contextlib.contextmanager
def prepared_reverification(
    settings: ReverifySettings, drafts: Drafts, *, say: Listener, step: Listener
) -> Iterator[PreparedReverification]:
    """Yield a run that is ready to be verified; leave no files behind if preparing fails."""
    refuse_both(settings)
    # as a profile names it, so that a comparison finds the run
    given = RunFiles(Path(os.path.abspath(settings.rollouts_jsonl_fpath)))  # noqa: PTH100
    inputs = settings.materialized_inputs_jsonl_fpath
    stored_run = StoredRun(
        given.rollouts,
        inputs.absolute() if inputs else given.inputs,
        given.failures,
        records.load_record(given.record, is_continued=False),
    )
    files = RunFiles(settings.output_jsonl_fpath.absolute())
    _refuse_same_files(files, [*given.all(), stored_run.inputs])
    for path in (stored_run.rollouts, stored_run.inputs):
        if not path.is_file():
            raise FileError(f"no file at {path}")
    with locked_journal(files, say) as journal:
        yield _Preparation(settings, files, journal, drafts, stored_run).run(say, step)


def _refuse_same_files(files: RunFiles, stored: list[Path]) -> None:
    known = {os.path.realpath(path) for path in stored}
    for path in files.all():
        if os.path.realpath(path) in known or any(_is_same(path, one) for one in stored):
            raise UsageError(
                f"{path} belongs to the run that is verified again, which stays as it is\n"
                "  what to do: give another output_jsonl_fpath"
            )


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


@dataclass(frozen=True)
class _Preparation:
    settings: ReverifySettings
    files: RunFiles
    journal: Journal
    drafts: Drafts
    stored_run: StoredRun

    def run(self, say: Listener, step: Listener) -> PreparedReverification:
        has_results = not self.journal.is_empty() or self.files.failures.exists()
        has_run = has_results or self.files.inputs.exists()
        is_resumed = self.settings.resume_from_cache and has_results
        if has_run and not (self.settings.overwrite or self.settings.resume_from_cache):
            raise already_collected(self.files.rollouts)
        stored = self._read(step)
        old = self._old_record(stored) if is_resumed else None
        drafted = self._draft_inputs(stored)
        record = self._record(stored, drafted, old)
        state = RunState()
        if is_resumed:
            repair_journals(self.files, self.journal, say)
            state = self._state(step)
        assert record.origin
        return PreparedReverification(
            settings=self.settings,
            origin=record.origin,
            stored_run=self.stored_run,
            stored=stored,
            files=self.files,
            journal=self.journal,
            drafts=self.drafts,
            record=record,
            rollout_counts=drafted.rollout_counts,
            state=state,
            is_fresh=not is_resumed,
        )

    def _read(self, step: Listener) -> StoredRollouts:
        stored = read_stored(
            self.stored_run.rollouts,
            self.stored_run.failures,
            step,
            limit=self.settings.limit,
            judge_failed_only=self.settings.judge_failed_only,
        )
        if not stored.count:
            what = "rollouts whose judge failed" if self.settings.judge_failed_only else "rollouts"
            raise FileError(f"{self.stored_run.rollouts} has no {what}: nothing to verify again")
        return stored

    def _draft_inputs(self, stored: StoredRollouts) -> DraftedInputs:
        """Draft the materialized inputs of the rollouts that are part of the new run."""
        drafted = DraftedInputs()
        path = self.stored_run.inputs
        with self.drafts.open(self.files.inputs, replaces=anything) as file:
            for _, key, row, text in keyed_rows(path, next_step=NEXT_STEP):
                if stored.has(key):
                    drafted.add(key, row, text, file)
        missing = stored.count + stored.carried.count - drafted.keys.count
        if missing:
            raise InvariantError(
                f"{counted_noun(missing, 'rollout')} of {self.stored_run.rollouts} without a row in"
                f" {path}\n  what to do: name the right materialized inputs with --inputs"
            )
        return drafted

    def _record(self, stored: StoredRollouts, drafted: DraftedInputs, old: Record | None) -> Record:
        """Describe the new run: the settings of the stored run, if known, and its origin."""
        run, before = self.stored_run, self.stored_run.record
        inputs = FileRecord(path=records.path_text(run.inputs), sha256=sha256_of(run.inputs))
        origin = Origin(
            rollouts=FileRecord(path=records.path_text(run.rollouts), sha256=stored.sha256),
            inputs=inputs,
            limit=self.settings.limit,
            judge_failed_only=self.settings.judge_failed_only,
        )
        if old and old.origin:
            origin.is_unsafe, origin.verifiers = old.origin.is_unsafe, old.origin.verifiers
        record = Record(
            versions=records.versions(),
            input=before.input if before else inputs,
            settings=before.settings if before else records.RecordedSettings(),
            materialized=drafted.record(),
            origin=origin,
            sessions=old.sessions if old else [],
        )
        records.count_as(record, self.settings)
        return record

    def _old_record(self, stored: StoredRollouts) -> Record:
        """Return the record of the run to resume; raise UsageError if it was made differently."""
        old = records.load_record(self.files.record)
        before = old.origin if old else None
        if old is None or before is None:
            raise cannot_resume(self.files, ["it was not made by `spotter reverify`"])
        settings, changes = self.settings, []
        if before.rollouts.sha256 != stored.sha256:
            changes.append(
                f"{settings.rollouts_jsonl_fpath} has other content than {before.rollouts.path} had"
            )
        if before.judge_failed_only != settings.judge_failed_only:
            changes.append(f"judge_failed_only: it was {str(before.judge_failed_only).lower()}")
        if settings.limit and (before.limit is None or settings.limit < before.limit):
            limit = before.limit or "not limited"
            changes.append(f"limit: it was {limit}, and can only grow, not be {settings.limit}")
        if changes:
            raise cannot_resume(self.files, changes)
        return old

    def _state(self, step: Listener) -> RunState:
        settings = self.settings
        expected = read_inputs(self.drafts.current(self.files.inputs), step)
        rules = ResumeRules(
            retry_timeouts=settings.retry_terminal_timeouts,
            longest_first=settings.dispatch_longest_first,
        )
        return read_state(self.files.rollouts, self.files.failures, expected, step, rules)
