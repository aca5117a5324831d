"""Turn attempts into the rows of a run: inputs, rollouts and failures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from collector.importing.attempts import Attempt, Expected, Finding, Identity, Json
from collector.keys import ROLLOUT, TASK, Key

AGENT = "agent_ref"
PARAMS = "responses_create_params"
SOURCE_TASK = "_ng_source_task"
"""The framework's name of a task. Fields that begin with `_ng_` do not change the task's id."""
UNKNOWN_TASK = "source_task"
"""The same, as part of the task's id: for tasks of which the log has nothing but the name."""
DETAILS = "details"
# the names of fields that mean something else in a rollout
RESERVED = frozenset(
    {
        *(AGENT, PARAMS, DETAILS, "reward", "response", "mask_sample", "failure_kind"),
        *("failure_reason", "stored_reward", "skills_ref", "task_id", "task_input", "ng_perf"),
        *("input_tokens", "output_tokens", "total_tokens"),
    }
)
EMPTY: tuple[Any, ...] = (None, "", [], {})
CLASS_CHARACTERS = 200
MESSAGE_CHARACTERS = 4000


@dataclass(frozen=True)
class RowMaker:
    """Makes the rows of a run."""

    identity: Identity

    def input_row(self, attempt: Attempt, key: Key) -> Json:
        """Return the materialized input of an attempt."""
        return {
            **_index(key),
            **self._request_params(attempt.asked),
            AGENT: self._agent(attempt),
            SOURCE_TASK: attempt.task,
        }

    def missing_row(self, expected: Expected, key: Key, known: Json | None) -> Json:
        """Return the materialized input of a missing attempt; `known` is another of the task."""
        if expected.asked is None and known is not None:
            return {**known, **_index(key)}
        asked = expected.asked or {PARAMS: {"input": []}, UNKNOWN_TASK: expected.task}
        attempt = Attempt(task=expected.task, rollout=expected.rollout, asked=asked)
        return self.input_row(attempt, key)

    def rollout_row(self, attempt: Attempt, key: Key) -> Json:
        """Return the rollout of an attempt that did not fail."""
        return {
            **self._own_row(attempt, key),
            "response": self._response(attempt),
            **_verdict(attempt),
            **_further(attempt),
        }

    def failure_row(self, attempt: Attempt, key: Key, number: int) -> Json:
        """Return the failed attempt, the so-manieth of its rollout."""
        failure = attempt.failure
        assert failure
        return {
            **self._own_row(attempt, key),
            "_ng_attempt_index": number,
            "_ng_failure_class": failure.kind[:CLASS_CHARACTERS] or "(unknown)",
            "_ng_failure_terminal": not failure.is_retried,
            "_ng_failure_message": failure.message[:MESSAGE_CHARACTERS],
            **_stored(failure.stored_reward),
            "response": self._response(attempt),
            **_further(attempt),
        }

    def agent_name(self, attempt: Attempt) -> str:
        """Return who made an attempt: the agent, else the model, else the framework."""
        names = (attempt.agent, self.identity.agent, attempt.model, *self.identity.models)
        return next((name for name in names if name), self.identity.framework)

    def _own_row(self, attempt: Attempt, key: Key) -> Json:
        """Return the input row with what the model was really given."""
        row = self.input_row(attempt, key)
        if attempt.given is not None:
            row[PARAMS] = {**row[PARAMS], "input": attempt.given}
        return row

    def _agent(self, attempt: Attempt) -> Json:
        return {"type": "responses_api_agents", "name": self.agent_name(attempt)}

    def _request_params(self, asked: Json) -> Json:
        """Return what was asked, with how it was sampled: that does not change the task's id."""
        params = {**self.identity.sampling, **asked.get(PARAMS, {})}
        return {**asked, PARAMS: params}

    def _response(self, attempt: Attempt) -> Json:
        model = attempt.model or next(iter(self.identity.models), None)
        response: Json = {"object": "response", "model": model, "output": attempt.output}
        if attempt.incomplete:
            response["status"] = "incomplete"
            response["incomplete_details"] = {"reason": attempt.incomplete}
        if attempt.tools:
            response["tools"] = attempt.tools
        if attempt.usage is not None:
            response["usage"] = attempt.usage  # last: a profile finds it there without a search
        return response


def finite(value: float | None) -> float | None:
    """Return a number or a boolean as a float, or None if it is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def _verdict(attempt: Attempt) -> Json:
    """Return the reward, and what went wrong; that of a masked attempt stands beside."""
    if attempt.mask:
        stored = _stored(attempt.reward)
        return {"reward": None, **stored, "mask_sample": True, **_reason(attempt.mask)}
    return {"reward": finite(attempt.reward), **_reason(attempt.finding)}


def _reason(finding: Finding | None) -> Json:
    if finding is None:
        return {}
    return {
        "failure_kind": finding.kind[:CLASS_CHARACTERS],
        "failure_reason": finding.reason[:MESSAGE_CHARACTERS],
    }


def _stored(reward: float | None) -> Json:
    stored = finite(reward)
    return {"stored_reward": stored} if stored is not None else {}


def _index(key: Key) -> Json:
    return {TASK: key[0], ROLLOUT: key[1]}


def _further(attempt: Attempt) -> Json:
    """Return the metrics and the details as fields that do not hide others."""
    taken = {*RESERVED, *attempt.asked}
    metrics = {
        _metric_name(name, taken): value
        for name, value in attempt.metrics.items()
        if finite(value) is not None
    }
    taken |= metrics.keys()
    fields = {
        name: value for name, value in attempt.details.items() if _is_field(name, value, taken)
    }
    rest = {
        name: value
        for name, value in attempt.details.items()
        if name not in fields and value not in EMPTY
    }
    return {**metrics, **fields, **({DETAILS: rest} if rest else {})}


def _metric_name(name: str, taken: set[str]) -> str:
    """Return a name that is a metric's: one that begins with `_` would not count as one."""
    return f"metric_{name.lstrip('_')}" if name in taken or name.startswith("_") else name


def _is_field(name: str, value: Any, taken: set[str]) -> bool:
    is_number = isinstance(value, (int, float))
    return not is_number and value not in EMPTY and name not in taken and not name.startswith("_")
