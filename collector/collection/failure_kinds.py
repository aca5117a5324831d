"""The kinds of failures: NeMo Gym's names for them, and what they were called before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FAILURE_CLASS = "_ng_failure_class"
FAILURE_TERMINAL = "_ng_failure_terminal"
FAILURE_STATUS = "_ng_failure_http_status"
OLD_STATUS = "_ng_failure_status"
TIMEOUT = "transport_timeout"
PEER_DROP = "transport_peer_drop"
RUN_ERROR = "agent_run_error"
REQUEST_FAILED = "agent_request_failed"
VERIFIER_ERROR = "verifier_error"
JUDGE_FAILED = "judge_failed"
ENVIRONMENT_FAILED = "environment_server_failed"
# a gateway in front of the agent answers with these: the rollout did not run
GATEWAY_STATUS = (429, 502, 503, 504)
OLD_NAMES = {
    "timeout": TIMEOUT,
    "connection": PEER_DROP,
    "http_4xx": RUN_ERROR,
    "http_5xx": RUN_ERROR,
    "bad_response": RUN_ERROR,
    "agent_failure": RUN_ERROR,
}
# written by agents of NeMo Gym, before there were common names
RETRIED_TIMEOUTS = ("timeout_exceeded", "reference_missing", "eval_missing", "transport_ineligible")
NEVER_RETRIED = "skipped"
NAME = re.compile(r"[a-z][a-z0-9_]{0,60}(?::[a-z][a-z0-9_]{0,60})?")


def kind_of_status(status: int, otherwise: str = RUN_ERROR) -> str:
    """Return the kind of a failure with this HTTP status: a gateway's, or `otherwise`."""
    return REQUEST_FAILED if status in GATEWAY_STATUS else otherwise


def failure_class_of(row: Mapping[str, Any]) -> str:
    """Return the class of a failed attempt under its current name."""
    name = row.get(FAILURE_CLASS)
    status = row.get(OLD_STATUS)
    if name in ("http_4xx", "http_5xx") and isinstance(status, int):
        return kind_of_status(status)
    return OLD_NAMES.get(name, name) if isinstance(name, str) else RUN_ERROR


def is_failure_kind(name: object) -> bool:
    """Tell whether a value has the form of a failure kind's name."""
    return isinstance(name, str) and bool(NAME.fullmatch(name))


def is_terminal(row: Mapping[str, Any], *, retry_timeouts: bool) -> bool:
    """Tell whether a failed rollout is never run again; `retry_timeouts` excludes timeouts."""
    if retry_timeouts and row.get(FAILURE_CLASS) in RETRIED_TIMEOUTS:
        return False
    if retry_timeouts and row.get(FAILURE_CLASS) == NEVER_RETRIED:
        return True
    return bool(row.get(FAILURE_TERMINAL))
