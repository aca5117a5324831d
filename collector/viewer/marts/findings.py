"""The findings of the health checks in words: for a table, and for the page of one rollout."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a flag of `rollout_health` means."""

    label: str
    sentence: str
    """The names in braces are columns of the rollout."""


FINDINGS = {
    "is_output_empty": Finding("Empty output", "The output is empty."),
    "is_truncated": Finding("Truncated output", "The output is truncated."),
    "is_usage_missing": Finding("No usage", "The response has no usage, or only zeros."),
    "is_response_repeated": Finding(
        "Repeated response", "Another rollout of this task and agent has the same response."
    ),
    "is_verdict_inconsistent": Finding(
        "Inconsistent verdict",
        "Another rollout of this task and agent has the same answer, but a different reward.",
    ),
    "is_ground_truth_suspect": Finding(
        "Suspect ground truth",
        "No rollout of this task and agent passes, although most give the same answer:"
        " the ground truth may be wrong.",
    ),
    "is_reward_contradicted": Finding(
        "Contradicted reward",
        "A field of the verifier says something else than the reward.",
    ),
    "is_tool_call_open": Finding("Open tool call", "A tool call has no result."),
    "is_final_answer_empty": Finding(
        "Empty final answer", "The final answer is empty, after tool calls."
    ),
    "is_turn_limit_reached": Finding(
        "Turn limit reached",
        "The agent stopped after a tool's result, at the most turns that it takes in this run:"
        " probably its limit of steps.",
    ),
    "is_failure_reported": Finding(
        "Reported failure", "{failure_kind} is reported. {failure_reason}"
    ),
}
