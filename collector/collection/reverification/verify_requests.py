"""The request that has one stored rollout verified again, and the row that its answer becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from collector.collection.failure_kinds import FAILURE_CLASS, VERIFIER_ERROR
from collector.collection.outcomes import ELAPSED, NO_PERSIST
from collector.collection.requests import Request, request_of, with_attempt
from collector.jsonl import dump, parse_object

Row = dict[str, Any]
# a stored verdict must not show through where the new verdict says nothing
VERDICT = ("reward", "mask_sample", "failure_kind", "failure_reason", NO_PERSIST)
KEPT = ("response", "responses_create_params")
# files of the rollout that a verifier reads, under NeMo Gym's names
FILES = ("deliverables_dir", "reference_ids")


@dataclass(frozen=True, slots=True)
class VerifyRequest(Request):
    """A stored rollout to verify again."""

    rollout: bytes = b""
    """The stored rollout, or the failed attempt of one."""
    error_kind: ClassVar[str] = VERIFIER_ERROR

    @property
    def problem(self) -> str | None:
        """Return why the rollout cannot be verified, or None."""
        if isinstance(parse_object(self.rollout).get("response"), dict):
            return None
        return "the stored rollout has no response, so there is nothing to verify"

    @property
    def body(self) -> bytes:
        """Return the materialized row with the stored response."""
        rollout = parse_object(self.rollout)
        files = {name: rollout[name] for name in FILES if name in rollout}
        row = _task_fields(parse_object(self.line))
        return dump({**row, "response": rollout.get("response"), **files})

    def answer_stamps(self, seconds: float) -> Row:  # noqa: ARG002 - those of the verdict
        """Return the fields to add; the stored rollout keeps its own latency."""
        return self.stamps

    def record_of(self, answer: Row) -> Row:
        """Return the stored rollout with the new verdict in place of the old one."""
        is_failed = answer.get(FAILURE_CLASS) is not None or answer.get(NO_PERSIST)
        if not is_failed and not isinstance(answer.get("reward"), (int, float)):
            raise ValueError("the verdict has no reward")
        rollout = parse_object(self.rollout)
        kept = {name: rollout[name] for name in KEPT if name in rollout}
        return {**_without_verdict(rollout), **answer, **kept}


def verify_request(line: bytes, rollout: bytes, *, attempt: int) -> Request:
    """Return the request for a materialized row and the stored line of its rollout."""
    row = request_of(line)
    request = VerifyRequest(row.key, row.agent, row.stamps, 0, line, rollout=rollout)
    return with_attempt(request, attempt) if attempt else request


def _task_fields(row: Row) -> Row:
    """Return a row as its verifier knows it: the input of a taskset's task is unpacked."""
    task = row.get("task_input")
    if not isinstance(task, dict):
        return row
    data = task.get("task_data")
    outer = {name: value for name, value in row.items() if name not in ("task_id", "task_input")}
    inner = {name: value for name, value in task.items() if name != "task_data"}
    return {**outer, **(data if isinstance(data, dict) else {}), **inner}


def _without_verdict(rollout: Row) -> Row:
    stale = {*VERDICT, *([ELAPSED] if FAILURE_CLASS in rollout else [])}
    return {
        name: value
        for name, value in rollout.items()
        if name not in stale and not name.startswith("_ng_fail")
    }
