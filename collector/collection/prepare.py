"""Get a run ready: lock it, repair it, decide what is to be run. Nothing is sent yet."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collector.artifacts import (
    AGGREGATE_SUFFIX,
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    RECORD_SUFFIX,
    beside,
)
from collector.collection import record as records
from collector.collection.journal import Journal
from collector.collection.materialize import Materialized, materialize, unused_repeats
from collector.collection.problems import listed
from collector.collection.prompts import load_prompt
from collector.collection.record import Record
from collector.collection.settings import CollectSettings
from collector.collection.state import State, read_inputs, read_state
from collector.drafts import Drafts, drafting
from collector.errors import FileError, UsageError

Listener = Callable[[str], None]


@dataclass(frozen=True)
class Files:
    """The artifacts of a collection."""

    rollouts: Path

    @property
    def inputs(self) -> Path:
        """Return the materialized inputs."""
        return beside(self.rollouts, INPUTS_SUFFIX)

    @property
    def failures(self) -> Path:
        """Return the failed attempts."""
        return beside(self.rollouts, FAILURES_SUFFIX)

    @property
    def record(self) -> Path:
        """Return the record of the run."""
        return beside(self.rollouts, RECORD_SUFFIX)

    @property
    def aggregate(self) -> Path:
        """Return the agents' own metrics."""
        return beside(self.rollouts, AGGREGATE_SUFFIX)

    def all(self) -> list[Path]:
        """Return everything that a collection may write."""
        return [
            *(self.rollouts, self.inputs, self.failures, self.record, self.aggregate),
            *self.torn(),
        ]

    def torn(self) -> list[Path]:
        """Return where unfinished lines were set aside."""
        return [path.with_name(path.name + ".torn") for path in (self.rollouts, self.failures)]


@dataclass
class Prepared:
    """A run that is locked, repaired and understood, and whose files are still drafts."""

    files: Files
    journal: Journal
    drafts: Drafts
    record: Record
    rollout_counts: Counter[str]
    """Rollouts to run in all, per agent."""
    state: State = field(default_factory=State)
    is_fresh: bool = True

    def publish(self) -> None:
        """Put the materialized inputs and the record in their places; from here on it is a run."""
        if self.is_fresh:
            # rollouts and failures first: once they are gone, resuming starts anew in any case
            self.journal.empty()
            for path in (self.files.failures, self.files.aggregate, *self.files.torn()):
                path.unlink(missing_ok=True)
        self.record.start()
        records.save_record(self.files.record, self.record, self.drafts)
        self.drafts.publish()


@contextlib.contextmanager
def prepared(settings: CollectSettings, *, say: Listener, step: Listener) -> Iterator[Prepared]:
    """Give a run that is ready to be collected, and leave no trace if it never gets there."""
    files = Files(settings.output_jsonl_fpath.absolute())
    _refuse_contradictions(settings, files)
    try:
        files.rollouts.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write {files.rollouts}: {error.strerror}") from error
    journal = Journal(files.rollouts, is_locked=True)
    try:
        with drafting() as drafts:
            yield _Preparation(settings, files, journal, drafts).run(say, step)
    finally:
        if journal.is_new and journal.is_empty() and not os.path.lexists(files.inputs):
            files.rollouts.unlink(missing_ok=True)
        journal.close()


def _refuse_contradictions(settings: CollectSettings, files: Files) -> None:
    if settings.resume_from_cache and settings.overwrite:
        raise UsageError("--resume or --overwrite, not both")
    given = os.path.realpath(settings.input_jsonl_fpath)
    if given in (os.path.realpath(path) for path in files.all()):
        raise UsageError(f"{settings.input_jsonl_fpath} is the input, and would be overwritten")


@dataclass(frozen=True)
class _Preparation:
    settings: CollectSettings
    files: Files
    journal: Journal
    drafts: Drafts

    def run(self, say: Listener, step: Listener) -> Prepared:
        has_results = not self.journal.is_empty() or self.files.failures.exists()
        is_there = has_results or self.files.inputs.exists()
        is_resumed = self.settings.resume_from_cache
        if not is_there or self.settings.overwrite or (is_resumed and not has_results):
            return self._fresh(say)
        if is_resumed:
            return self._resumed(say, step)
        raise UsageError(
            f"{self.files.rollouts} has been collected already, in whole or in part\n"
            "  what to do: go on with --resume, start anew with --overwrite,"
            " or give another output_jsonl_fpath"
        )

    def _fresh(self, say: Listener) -> Prepared:
        found = self._materialized(say)
        return Prepared(
            files=self.files,
            journal=self.journal,
            drafts=self.drafts,
            record=records.new_record(self.settings, found),
            rollout_counts=found.rollout_counts,
        )

    def _resumed(self, say: Listener, step: Listener) -> Prepared:
        files = self.files
        old = records.load_record(files.record)
        if old and (found := records.differences(old, self.settings)):
            raise self._mismatch(found)
        record = self._topped_up(old, say)
        self._repair(say)
        expected = read_inputs(self.drafts.current(files.inputs), step)
        if expected.sha256 != record.materialized.sha256:
            raise self._mismatch([f"{files.inputs} was changed since"])
        return Prepared(
            files=files,
            journal=self.journal,
            drafts=self.drafts,
            record=record,
            rollout_counts=expected.rollout_counts,
            state=read_state(files.rollouts, files.failures, expected, step),
            is_fresh=False,
        )

    def _materialized(self, say: Listener) -> Materialized:
        settings = self.settings
        prompt = load_prompt(settings.prompt_config) if settings.prompt_config else None
        recipe = settings.recipe(prompt)
        with self.drafts.open(self.files.inputs) as file:
            found = materialize(settings.input_jsonl_fpath, recipe, file)
        if not found.rollout_count:
            raise FileError(f"{settings.input_jsonl_fpath} has no rows to run")
        if unused := unused_repeats(recipe, found):
            say(f"warning: num_repeats names agents that no row asks for: {', '.join(unused)}")
        return found

    def _topped_up(self, old: Record | None, say: Listener) -> Record:
        """Return the record to go on with; materialize again if there is more to run."""
        new = records.recorded(self.settings)
        is_same = old is not None and (old.settings.limit, old.settings.num_repeats) == (
            new.limit,
            new.num_repeats,
        )
        if old and is_same and self.files.inputs.exists():
            return old
        found = self._materialized(say)
        record = records.new_record(self.settings, found)
        if old is None:
            self._compare_inputs(record)
            return record
        record.sessions = old.sessions
        fewer = records.fewer_repeats(old, found)
        if not fewer and found.mixed_lines and found.repeats != old.materialized.repeats:
            fewer = [
                "num_repeats: it cannot grow, because different rows share a task index of their"
                f" own (line {listed(found.mixed_lines)} of {self.settings.input_jsonl_fpath})"
            ]
        if fewer:
            raise self._mismatch(fewer)
        return record

    def _compare_inputs(self, record: Record) -> None:
        """Without a record, as after NeMo Gym's collector, the rows to run must be the same."""
        inputs = self.files.inputs
        if inputs.exists() and records.sha256_of(inputs) != record.materialized.sha256:
            raise self._mismatch([f"the input or the settings: they do not lead to {inputs}"])

    def _repair(self, say: Listener) -> None:
        if message := self.journal.repair():
            say(message)
        if self.files.failures.exists():
            failures = Journal(self.files.failures)
            if message := failures.repair():
                say(message)
            failures.close()

    def _mismatch(self, found: list[str]) -> UsageError:
        return UsageError(
            f"{self.files.rollouts} cannot be resumed: it was collected differently\n  "
            + "\n  ".join(found)
            + "\n  what to do: resume with what it was collected with, start anew with"
            " --overwrite, or give another output_jsonl_fpath"
        )
