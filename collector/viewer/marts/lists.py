"""The tables of a run's tasks and rollouts: their columns and the queries of their rows."""

from __future__ import annotations

from collector.viewer.marts import queries
from collector.viewer.marts.filters import ListingColumn
from collector.viewer.marts.listing import ListingSource, LongTexts

TASK_KEY = "task_index, agent_name"
BANDS = ("unsolved", "learnable", "solved", "undecided")
TASK_LISTING = ListingSource(
    columns=(
        ListingColumn("task_index", "Task", hint="12"),
        ListingColumn("prompt", "Prompt", "text"),
        ListingColumn("agent_name", "Agent", "choice"),
        ListingColumn("rollout_count", "Rollouts", hint=">=4", is_minor=True),
        ListingColumn("pass_ratio", "Pass rate", hint="0.2..0.8"),
        ListingColumn("reward_mean", "Mean reward"),
        ListingColumn("band", "Band", "choice", choices=BANDS),
        ListingColumn("learnability", "Learnability", hint=">0.2", is_minor=True),
        ListingColumn("reward_std", "Spread", hint=">0", is_minor=True),
        ListingColumn("output_tokens_mean", "Output tokens", hint=">1000", is_minor=True),
        ListingColumn("total_tokens_mean", "All tokens", hint=">1000", is_minor=True),
        ListingColumn("missing_rollout_count", "Missing", hint=">0"),
        ListingColumn("masked_rollout_count", "Masked", hint=">0"),
    ),
    rows=queries.TASKS,
    key=TASK_KEY,
    search="prompt",
    marts=("task_bands", "task_profiles"),
    texts=(LongTexts(queries.PROMPTS, TASK_KEY, ("prompt",)),),
)
ROLLOUT_KEY = "task_index, rollout_index"
ROLLOUT_LISTING = ListingSource(
    columns=(
        ListingColumn("task_index", "Task", hint="12"),
        ListingColumn("rollout_index", "Rollout", hint="0"),
        ListingColumn("agent_name", "Agent", "choice"),
        ListingColumn("reward", "Reward", hint="<1"),
        ListingColumn("is_masked", "Masked", "flag"),
        ListingColumn("failure_kind", "Failure kind", "choice"),
        ListingColumn("failure_reason", "Failure reason", "text"),
        ListingColumn("answer", "Answer", "text"),
        ListingColumn("input_tokens", "Input tokens", hint=">1000"),
        ListingColumn("output_tokens", "Output tokens", hint=">1000"),
        ListingColumn("gym_verdict", "NeMo Gym's verdict", "choice"),
        ListingColumn("finding_count", "Findings", hint=">0"),
        ListingColumn("is_output_empty", "Empty output", "flag"),
        ListingColumn("is_truncated", "Truncated", "flag"),
        ListingColumn("is_usage_missing", "No usage", "flag"),
        ListingColumn("is_response_repeated", "Repeated", "flag"),
        ListingColumn("is_verdict_inconsistent", "Inconsistent verdict", "flag"),
        ListingColumn("is_ground_truth_suspect", "Suspect ground truth", "flag"),
        ListingColumn("is_reward_contradicted", "Contradicted reward", "flag"),
        ListingColumn("is_tool_call_open", "Open tool call", "flag"),
        ListingColumn("is_final_answer_empty", "Empty final answer", "flag"),
        ListingColumn("is_turn_limit_reached", "Turn limit", "flag"),
        ListingColumn("is_failure_reported", "Reported failure", "flag"),
    ),
    rows=queries.ROLLOUT_ROWS,
    key=ROLLOUT_KEY,
    search="answer",
    marts=("rollout_health", "rollout_infos"),
    texts=(
        LongTexts(queries.ANSWERS, ROLLOUT_KEY, ("answer",)),
        LongTexts(queries.FAILURE_TEXTS, ROLLOUT_KEY, ("failure_kind", "failure_reason")),
    ),
)
