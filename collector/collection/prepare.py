"""Get a run ready: lock it, repair it, decide what is to be run. Nothing is sent yet."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from collector.artifacts import (
    AGGREGATE_SUFFIX,
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    RECORD_SUFFIX,
    beside,
)
from collector.atomic_files import Drafts
from collector.collection import record as records
from collector.collection.discovery import AgentFinder
from collector.collection.fingerprints import Fingerprint, fingerprint_of
from collector.collection.journal import Journal
from collector.collection.materialize import Materialized, Recipe, materialize, unused_names
from collector.collection.prompts import load_prompt
from collector.collection.record import Record
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.collection.settings import CollectSettings
from collector.collection.state import Reading, State, read_inputs, read_state
from collector.errors import FileError, UsageError
from collector.terminal import counted_noun

Listener = Callable[[str], None]
SHOWN_AGENTS = 20


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
    if OLD_LIMIT in settings.responses_create_params:
        say(f"{OLD_LIMIT} is sent as {LIMIT}, as the Responses API calls it")
    try:
        files.rollouts.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write {files.rollouts}: {error.strerror}") from error
    journal = Journal(files.rollouts, is_locked=True)
    try:
        with Drafts() as drafts:
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
        files, settings = self.files, self.settings
        old = records.load_record(files.record)
        if old and (found := records.differences(old, settings)):
            raise self._mismatch(found)
        record = self._topped_up(old, say) if old else self._recognized(say)
        records.count_as(record, settings)
        self._repair(say)
        expected = read_inputs(self.drafts.current(files.inputs), step)
        if expected.sha256 != record.materialized.sha256:
            raise self._mismatch([f"{files.inputs} was changed since"])
        reading = Reading(
            retry_timeouts=settings.retry_terminal_timeouts,
            longest_first=settings.dispatch_longest_first,
        )
        return Prepared(
            files=files,
            journal=self.journal,
            drafts=self.drafts,
            record=record,
            rollout_counts=expected.rollout_counts,
            state=read_state(files.rollouts, files.failures, expected, step, reading),
            is_fresh=False,
        )

    def _materialized(self, say: Listener, *, keeps_own_agents: bool = False) -> Materialized:
        recipe = self._recipe(keeps_own_agents=keeps_own_agents)
        with self.drafts.open(self.files.inputs) as file:
            found = self._materialize(recipe, file)
        if not found.rollout_count:
            raise FileError(f"{self.settings.input_jsonl_fpath} has no rows to run")
        for warning in _warnings(recipe, found):
            say(warning)
        return found

    def _recipe(self, *, keeps_own_agents: bool) -> Recipe:
        path = self.settings.prompt_config
        prompt = load_prompt(path) if path else None
        return self.settings.recipe(prompt, keeps_own_agents=keeps_own_agents)

    def _materialize(self, recipe: Recipe, out: BinaryIO) -> Materialized:
        return materialize(
            self.settings.input_jsonl_fpath,
            recipe,
            out,
            agents=AgentFinder(self.settings),
            scratch=self.files.rollouts.parent,
        )

    def _topped_up(self, old: Record, say: Listener) -> Record:
        """Return the record to go on with; materialize again if there is more to run."""
        new = records.recorded(self.settings)
        is_same = (old.settings.limit, old.settings.num_repeats) == (new.limit, new.num_repeats)
        if is_same and self.files.inputs.exists():
            return old
        keeps = old.settings.keeps_own_agents
        found = self._materialized(say, keeps_own_agents=keeps)
        record = records.new_record(self.settings, found, keeps_own_agents=keeps)
        record.sessions = old.sessions
        problems = records.fewer_repeats(old, found)
        if problems := problems or records.cannot_grow(old, self.settings, found):
            raise self._mismatch(problems)
        return record

    def _recognized(self, say: Listener) -> Record:
        """Describe a run of NeMo Gym's collector, which has no record, by its rows."""
        inputs = self.files.inputs
        if not inputs.exists():
            return records.new_record(self.settings, self._materialized(say))
        begun = fingerprint_of(inputs)
        # until NeMo Gym 0.5, rows with an agent of their own kept it
        for keeps in (False, True) if self.settings.agent_name else (False,):
            rows = Fingerprint()
            found = self._materialize(self._recipe(keeps_own_agents=keeps), cast("BinaryIO", rows))
            if rows.value == begun:
                found.sha256 = records.sha256_of(inputs)
                return records.new_record(self.settings, found, keeps_own_agents=keeps)
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


def _warnings(recipe: Recipe, found: Materialized) -> Iterator[str]:
    """Say what is sent otherwise than the rows say, and which names are of no row."""
    if found.overridden:
        moved = [
            f"{own} → {agent} ({counted_noun(count, 'row')})"
            for (own, agent), count in sorted(found.overridden.items())
        ]
        more = f" and {len(moved) - SHOWN_AGENTS} more" if len(moved) > SHOWN_AGENTS else ""
        setting = "agent_map" if recipe.routing.agent_map else "agent_name"
        yield (
            f"warning: {setting} overrides the agent_ref of rows: "
            f"{', '.join(moved[:SHOWN_AGENTS])}{more}"
        )
    if found.renamed_count:
        rows = counted_noun(found.renamed_count, "row")
        yield f"{OLD_LIMIT} of {rows} is sent as {LIMIT}, as the Responses API calls it"
    for setting, names in unused_names(recipe, found).items():
        yield f"warning: {setting} has names that no row has: {', '.join(names)}"
