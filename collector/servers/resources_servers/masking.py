"""Masks: the fields of a verdict that exclude a rollout from all statistics."""

from __future__ import annotations

import re
from typing import Any

Row = dict[str, Any]
# NeMo Gym's names; a server writes its own names as <server>:<kind>
FAILURE_KINDS = frozenset(
    {
        *("transport_unreachable", "transport_peer_drop", "transport_timeout"),
        *("transport_local_resource", "agent_run_error", "agent_request_failed"),
        *("agent_timeout", "agent_command_not_allowed", "judge_failed", "judge_unparseable"),
        *("verifier_error", "provider_unavailable", "provider_quota_exhausted"),
        *("provider_oom_killed", "session_lost", "session_expired", "session_release_failed"),
        *("cancelled", "kill_shaped", "shutdown", "persistence_failed", "cohort_incomplete"),
    }
)
OWN_KIND = re.compile(r"[a-z][a-z0-9_]*:[a-z][a-z0-9_]*")
# error codes of a response that are not the model's fault
OUTAGES = {
    "server_error": "provider_unavailable",
    "rate_limit_exceeded": "provider_quota_exhausted",
}
MEASURED: Row = {"mask_sample": False, "failure_kind": None, "failure_reason": None}


def masked_verdict(kind: str, reason: str) -> Row:
    """Return the verdict on a rollout that measures nothing because the infrastructure failed."""
    return {"reward": 0.0, "mask_sample": True, "failure_kind": kind, "failure_reason": reason}


def response_mask(response: Row) -> Row:
    """Return the mask fields for a response: masked if an outage of the provider ended it."""
    # do not look at the status: NeMo Gym's agents call an empty response incomplete
    error: Any = response.get("error")
    kind = OUTAGES.get(str(error.get("code"))) if isinstance(error, dict) else None
    if kind is None:
        return MEASURED
    reason = str(error.get("message") or error.get("code"))
    return {"mask_sample": True, "failure_kind": kind, "failure_reason": reason}


def mask_problem(verdict: Row) -> str | None:
    """Return the problem with the mask fields of an environment's verdict, or None."""
    if not isinstance(verdict.get("mask_sample", False), bool):
        return "mask_sample must be true or false"
    if not isinstance(verdict.get("failure_reason"), str | None):
        return "failure_reason must be text"
    kind = verdict.get("failure_kind")
    if kind is None:
        return None
    if isinstance(kind, str) and (kind in FAILURE_KINDS or OWN_KIND.fullmatch(kind)):
        return None
    return (
        f"failure_kind {kind!r} is not one of {', '.join(sorted(FAILURE_KINDS))};"
        " write your own names as <server>:<kind>"
    )
