"""Stop drawing repeats of decided tasks, and take out of the run what was not drawn."""

from __future__ import annotations

import hashlib
from pathlib import Path

from collector.atomic_files import Drafts, anything
from collector.collection import record as records
from collector.collection.collected import Savings
from collector.collection.decisions import decision_table
from collector.collection.outcomes import Failure, Outcome, RolloutAnswer
from collector.collection.passing import is_pass
from collector.collection.prepared_runs import PreparedRun
from collector.collection.record import MaterializedRecord
from collector.collection.rows import numbered_lines
from collector.collection.settings.stopping import StoppingRule
from collector.collection.undecided import RepeatIndex, UndecidedRequests


class EarlyStopping:
    """The rollouts to run under a stopping rule."""

    def __init__(
        self, rule: StoppingRule, run: PreparedRun, *, parallel: int, max_attempts: int
    ) -> None:
        """Decide what earlier sessions decided; the materialized inputs may still be a draft."""
        self._rule = rule
        self._earlier_count = run.record.materialized.undrawn_rollout_count
        inputs = run.drafts.current(run.files.inputs)
        index = RepeatIndex(inputs, run.state, max_attempts)
        table = decision_table(rule, index.most_rollouts)
        self._rollout_count = sum(len(group.states) for group in index.groups.values())
        # the open file stays the same when the draft gets its name
        self.requests = UndecidedRequests(inputs, index, table, parallel=parallel)

    def savings(self) -> Savings:
        """Return what the rule saved so far."""
        return Savings(
            saved_count=self._earlier_count + self.requests.undrawn_count,
            most_count=self._earlier_count + self._rollout_count,
            decided_count=self.requests.decided_count,
            task_count=self.requests.task_count,
        )

    def note(self, outcome: Outcome) -> None:
        """Note the end of a rollout."""
        key = outcome.request.key
        if isinstance(outcome, RolloutAnswer):
            passes = is_pass(outcome.row, self._rule.pass_threshold)
            self.requests.note(key, is_pass=passes)
        elif not isinstance(outcome, Failure) or outcome.is_final:
            self.requests.note(key, is_pass=None)

    def end(self, run: PreparedRun, *, is_done: bool) -> None:
        """Close the inputs; if nothing is left to run, draft them without what was not drawn."""
        self.requests.close()
        if not is_done:
            return
        if not self.savings().saved_count:
            run.record.stopping = None  # every task has all its repeats
        if self.requests.undrawn_count:
            following = self._drop_undrawn(run.files.inputs, run.record.materialized, run.drafts)
            records.announce(run.files.record, run.record, following)
            run.record.materialized = following

    def _drop_undrawn(
        self, inputs: Path, materialized: MaterializedRecord, drafts: Drafts
    ) -> MaterializedRecord:
        """Draft the materialized inputs without the rows that were not drawn; describe them."""
        undrawn = self.requests.undrawn_offsets()
        digest = hashlib.sha256()
        offset = 0
        with drafts.open(inputs, replaces=anything) as out:
            for _, line in numbered_lines(inputs):
                if offset not in undrawn:
                    digest.update(line)
                    out.write(line)
                offset += len(line)
        return materialized.model_copy(
            update={
                "sha256": digest.hexdigest(),
                "rollout_count": materialized.rollout_count - len(undrawn),
                "undrawn_rollout_count": materialized.undrawn_rollout_count + len(undrawn),
            }
        )
