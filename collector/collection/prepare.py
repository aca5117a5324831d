"""Prepare a run without sending a request: lock it, repair it, decide what to run."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from collector.atomic_files import Drafts, anything
from collector.collection import record as records
from collector.collection.discovery import AgentFinder, Servers, find_servers
from collector.collection.fingerprints import Fingerprint, fingerprint_of
from collector.collection.journal import Journal
from collector.collection.materialize import Materialized, materialize, unused_names
from collector.collection.prompts import load_prompt
from collector.collection.record import Record
from collector.collection.requests import Request
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.collection.run_files import RunFiles, already_collected, refuse_both
from collector.collection.settings import CollectSettings
from collector.collection.settings.connection import Connection
from collector.collection.state import (
    ResumeRules,
    RunState,
    open_requests,
    read_inputs,
    read_state,
)
from collector.errors import FileError, UsageError
from collector.gym_client import GymClient
from collector.terminal import counted_noun

Listener = Callable[[str], None]
SHOWN_AGENTS = 20


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


@contextlib.contextmanager
def prepared_run(
    settings: CollectSettings, drafts: Drafts, *, say: Listener, step: Listener
) -> Iterator[PreparedRun]:
    """Yield a run that is ready to be collected; leave no files behind if preparing fails.

    The input may be one of the `drafts`, which are published when the run begins.
    """
    files = RunFiles(settings.output_jsonl_fpath.absolute())
    _refuse_contradictions(settings, files)
    if OLD_LIMIT in settings.responses_create_params:
        say(f"{OLD_LIMIT} is sent as {LIMIT}, as the Responses API calls it")
    with locked_journal(files, say) as journal:
        yield _Preparation(settings, files, journal, drafts).run(say, step)


@contextlib.contextmanager
def locked_journal(files: RunFiles, say: Listener) -> Iterator[Journal]:
    """Yield the journal of a run's rollouts; remove a new file if the run does not begin."""
    try:
        files.rollouts.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write {files.rollouts}: {error.strerror}") from error
    journal = Journal(files.rollouts, is_locked=True)
    if not journal.has_lock:
        say(
            f"warning: the file system of {files.rollouts.parent} has no locks:"
            f" make sure that no other collector writes {files.rollouts.name}"
        )
    try:
        yield journal
    finally:
        if journal.is_new and journal.is_empty() and not os.path.lexists(files.inputs):
            files.rollouts.unlink(missing_ok=True)
        journal.close()


def _refuse_contradictions(settings: CollectSettings, files: RunFiles) -> None:
    refuse_both(settings)
    given = os.path.realpath(settings.input_jsonl_fpath)
    if given in (os.path.realpath(path) for path in files.all()):
        raise UsageError(f"{settings.input_jsonl_fpath} is the input, and would be overwritten")


@dataclass(frozen=True)
class _Preparation:
    settings: CollectSettings
    files: RunFiles
    journal: Journal
    drafts: Drafts

    def run(self, say: Listener, step: Listener) -> PreparedRun:
        has_results = not self.journal.is_empty() or self.files.failures.exists()
        has_run = has_results or self.files.inputs.exists()
        is_resumed = self.settings.resume_from_cache
        if not has_run or self.settings.overwrite or (is_resumed and not has_results):
            return self._start(say)
        if is_resumed:
            return self._resume(say, step)
        raise already_collected(self.files.rollouts)

    def _start(self, say: Listener) -> PreparedRun:
        materialized = self._draft_inputs(say)
        return PreparedCollection(
            connection=self.settings,
            files=self.files,
            journal=self.journal,
            drafts=self.drafts,
            record=records.new_record(self.settings, materialized),
            rollout_counts=materialized.rollout_counts,
        )

    def _resume(self, say: Listener, step: Listener) -> PreparedRun:
        files, settings = self.files, self.settings
        old = records.load_record(files.record)
        tasks = self.drafts.current(settings.input_jsonl_fpath)
        if old and (changes := records.differences(old, settings, tasks)):
            raise self._mismatch(changes)
        record = self._top_up(old, say) if old else self._recognize(say)
        records.count_as(record, settings)
        repair_journals(files, self.journal, say)
        expected = read_inputs(self.drafts.current(files.inputs), step)
        if expected.sha256 != record.materialized.sha256:
            raise self._mismatch([f"{files.inputs} was changed since"])
        reading = ResumeRules(
            retry_timeouts=settings.retry_terminal_timeouts,
            longest_first=settings.dispatch_longest_first,
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

    def _draft_inputs(self, say: Listener, *, keeps_own_agents: bool = False) -> Materialized:
        """Draft the materialized inputs, and warn about settings that the rows do not fit."""
        with self.drafts.open(self.files.inputs, replaces=anything) as file:
            materialized = self._materialize(file, keeps_own_agents=keeps_own_agents)
        if not materialized.rollout_count:
            raise FileError(f"{self.settings.input_jsonl_fpath} has no rows to run")
        for warning in _warnings(self.settings, materialized):
            say(warning)
        return materialized

    def _materialize(self, out: BinaryIO, *, keeps_own_agents: bool) -> Materialized:
        path = self.settings.prompt_config
        return materialize(
            self.drafts.current(self.settings.input_jsonl_fpath),
            self.settings,
            out,
            prompt=load_prompt(path) if path else None,
            agents=AgentFinder(self.settings),
            keeps_own_agents=keeps_own_agents,
            scratch=self.files.rollouts.parent,
            shown=self.settings.input_jsonl_fpath,
        )

    def _top_up(self, old: Record, say: Listener) -> Record:
        """Return the record to continue with; materialize again if there is more to run."""
        before, settings = old.settings, self.settings
        is_same = (before.limit, before.num_repeats) == (settings.limit, settings.num_repeats)
        if is_same and self.files.inputs.exists():
            return old
        keeps = before.keeps_own_agents
        materialized = self._draft_inputs(say, keeps_own_agents=keeps)
        record = records.new_record(settings, materialized, keeps_own_agents=keeps)
        record.sessions = old.sessions
        problems = records.fewer_repeats(old, materialized)
        if problems := problems or records.cannot_grow(old, settings, materialized):
            raise self._mismatch(problems)
        return record

    def _recognize(self, say: Listener) -> Record:
        """Describe a run of NeMo Gym's collector, which has no record, by its rows."""
        inputs = self.files.inputs
        if not inputs.exists():
            return records.new_record(self.settings, self._draft_inputs(say))
        begun = fingerprint_of(inputs)
        # until NeMo Gym 0.5, rows with an agent of their own kept it
        for keeps in (False, True) if self.settings.agent_name else (False,):
            rows = Fingerprint()
            materialized = self._materialize(cast("BinaryIO", rows), keeps_own_agents=keeps)
            if rows.value == begun:
                materialized.sha256 = records.sha256_of(inputs)
                return records.new_record(self.settings, materialized, keeps_own_agents=keeps)
        raise self._mismatch([f"the input or the settings: they do not lead to {inputs}"])

    def _mismatch(self, changes: list[str]) -> UsageError:
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


def _warnings(settings: CollectSettings, materialized: Materialized) -> Iterator[str]:
    """Yield a warning for each agent or parameter that replaces the rows' own, and unused names."""
    if materialized.overridden:
        moved = [
            f"{own} → {agent} ({counted_noun(count, 'row')})"
            for (own, agent), count in sorted(materialized.overridden.items())
        ]
        more = f" and {len(moved) - SHOWN_AGENTS} more" if len(moved) > SHOWN_AGENTS else ""
        setting = "agent_map" if settings.agent_map else "agent_name"
        yield (
            f"warning: {setting} overrides the agent_ref of rows: "
            f"{', '.join(moved[:SHOWN_AGENTS])}{more}"
        )
    if materialized.renamed_count:
        rows = counted_noun(materialized.renamed_count, "row")
        yield f"{OLD_LIMIT} of {rows} is sent as {LIMIT}, as the Responses API calls it"
    for setting, names in unused_names(settings, materialized).items():
        yield f"warning: {setting} has names that no row has: {', '.join(names)}"
