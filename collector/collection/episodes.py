"""Tasks of tasksets: the requests to their environment server, and its answers."""

from __future__ import annotations

from typing import Any

from collector.collection.failure_kinds import (
    ENVIRONMENT_FAILED,
    FAILURE_CLASS,
    FAILURE_TERMINAL,
)
from collector.jsonl import dump
from collector.keys import Key

Row = dict[str, Any]
TASK_ID = "_ng_task_id"
ROLLOUT_ID = "_ng_rollout_id"
MESSAGE = "_ng_failure_message"
# fields that collectors write: the same field of an environment server would be mistaken for it
RESERVED = ("ng_trajectory", "ng_model_call_capture", "ng_perf")


def episode_body(row: Row, key: Key, attempt: int) -> bytes:
    """Return the request for one episode of a task."""
    rollout_id = row.get(ROLLOUT_ID, f"{key[0]}-{key[1]}")
    return dump(
        {
            "episode_id": {"rollout_id": rollout_id, "attempt": attempt},
            "task": {"task_id": row["task_id"], "task_input": row["task_input"]},
        }
    )


def episode_record(answer: Row) -> Row:
    """Return the rollout or the failure that an answer holds; raise ValueError without either."""
    task_id, failure, result = (answer.get(name) for name in ("task_id", "failure", "result"))
    if not isinstance(answer.get("episode_id"), dict) or not isinstance(task_id, dict):
        raise ValueError("not an episode: no episode_id and task_id")
    if isinstance(failure, dict):
        return _failure_row(failure) | {TASK_ID: task_id}
    if not isinstance(result, dict):
        raise ValueError("not an episode: neither a result nor a failure")
    taken = sorted(name for name in result if name.startswith("_ng_") or name in RESERVED)
    if taken:
        raise ValueError(f"the result has fields that only collectors write: {', '.join(taken)}")
    return result | {TASK_ID: task_id}


def _failure_row(failure: Row) -> Row:
    fields = {
        FAILURE_CLASS: ENVIRONMENT_FAILED,
        FAILURE_TERMINAL: bool(failure.get("terminal")),
        MESSAGE: failure.get("failure_reason"),
        "failure_kind": failure.get("failure_kind"),
        "_ng_failure_stage": failure.get("stage"),
        "_ng_failure_partial_response": failure.get("partial_response"),
    }
    return {name: value for name, value in fields.items() if value is not None}
