"""Prepare a run without sending a request: lock it, repair it, decide what to run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from collector.artifacts import sha256_of
from collector.atomic_files import Drafts, anything
from collector.collection import record as records
from collector.collection import record_changes
from collector.collection.discovery import AgentFinder
from collector.collection.fingerprints import Fingerprint, changed_settings, fingerprint_of
from collector.collection.journal import Journal
from collector.collection.materialize import Materialized, materialize, unused_names
from collector.collection.plan_preparation import planned_run
from collector.collection.prepared_runs import Listener, PreparedCollection, PreparedRun, Resumption
from collector.collection.prompts import load_prompt
from collector.collection.record import Record
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.collection.run_files import RunFiles, already_collected, refuse_both
from collector.collection.settings import CollectSettings, PlanSettings
from collector.errors import FileError, UsageError
from collector.terminal import counted_noun

SHOWN_AGENTS = 20


@contextlib.contextmanager
def prepared_run(
    settings: CollectSettings | PlanSettings, drafts: Drafts, *, say: Listener, step: Listener
) -> Iterator[PreparedRun]:
    """Yield a run that is ready to be collected; leave no files behind if preparing fails.

    The input may be one of the `drafts`, which are published when the run begins.
    """
    files = RunFiles(settings.output_jsonl_fpath.absolute())
    _refuse_contradictions(settings, files)
    if OLD_LIMIT in settings.responses_create_params:
        say(f"{OLD_LIMIT} is sent as {LIMIT}, as the Responses API calls it")
    with locked_journal(files, say) as journal:
        resumption = Resumption(settings, files, journal, drafts)
        if isinstance(settings, PlanSettings):
            yield planned_run(settings, resumption, say, step)
        else:
            yield _Preparation(settings, resumption).run(say, step)


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


def _refuse_contradictions(settings: CollectSettings | PlanSettings, files: RunFiles) -> None:
    refuse_both(settings)
    if isinstance(settings, PlanSettings):
        path, noun = settings.plan, "plan"
    else:
        path, noun = settings.input_jsonl_fpath, "input"
    if os.path.realpath(path) in (os.path.realpath(one) for one in files.all()):
        raise UsageError(f"{path} is the {noun}, and would be overwritten")


@dataclass(frozen=True)
class _Preparation:
    settings: CollectSettings
    resumption: Resumption

    @property
    def files(self) -> RunFiles:
        return self.resumption.files

    @property
    def journal(self) -> Journal:
        return self.resumption.journal

    @property
    def drafts(self) -> Drafts:
        return self.resumption.drafts

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
        record = records.new_record(self.settings, materialized)
        records.stop_as(record, self.settings)
        return PreparedCollection(
            connection=self.settings,
            files=self.files,
            journal=self.journal,
            drafts=self.drafts,
            record=record,
            rollout_counts=materialized.rollout_counts,
        )

    def _resume(self, say: Listener, step: Listener) -> PreparedRun:
        files, settings = self.files, self.settings
        old = records.load_record(files.record)
        tasks = self.drafts.current(settings.input_jsonl_fpath)
        if old and (changes := record_changes.differences(old, settings, tasks)):
            raise self.resumption.mismatch(changes)
        record = self._top_up(old, say) if old else self._recognize(say)
        return self.resumption.run(record, say, step)

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
        if settings.until is None and old.lacks_rollouts:
            is_same = False  # run the rollouts that the rule saved, too
        if is_same and self.files.inputs.exists():
            return old
        keeps = before.keeps_own_agents
        materialized = self._draft_inputs(say, keeps_own_agents=keeps)
        record = records.new_record(settings, materialized, keeps_own_agents=keeps)
        record.sessions = old.sessions
        problems = record_changes.fewer_repeats(old, materialized)
        if problems := problems or record_changes.cannot_grow(old, settings, materialized):
            raise self.resumption.mismatch(problems)
        return record

    def _recognize(self, say: Listener) -> Record:
        """Describe a run of NeMo Gym's collector, which has no record, by its rows."""
        inputs = self.files.inputs
        if not inputs.exists():
            return records.new_record(self.settings, self._draft_inputs(say))
        begun = fingerprint_of(inputs)
        problems: list[str] = []
        # until NeMo Gym 0.5, rows with an agent of their own kept it
        for keeps in (False, True) if self.settings.agent_name else (False,):
            rows = Fingerprint(begun)
            materialized = self._materialize(cast("BinaryIO", rows), keeps_own_agents=keeps)
            if rows.has_rows_of(begun):
                if rows.new_count:
                    materialized = self._draft_inputs(say, keeps_own_agents=keeps)
                else:
                    materialized.sha256 = sha256_of(inputs)
                return records.new_record(self.settings, materialized, keeps_own_agents=keeps)
            problems = problems or [*changed_settings(begun, rows)]
        unknown = f"the input or the settings: they do not lead to {inputs}"
        raise self.resumption.mismatch(problems or [unknown])


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
