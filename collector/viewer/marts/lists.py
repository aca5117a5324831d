"""The lists of a run's tasks and rollouts: their columns, and where their rows come from."""

from __future__ import annotations

from collector.viewer.marts import queries
from collector.viewer.marts.filters import Column
from collector.viewer.marts.listing import Source, Texts

BANDS = ("unsolved", "learnable", "solved", "undecided")
TASK_LIST = Source(
    columns=(
        Column("task_index", "Task", hint="12"),
        Column("prompt", "Prompt", "text"),
        Column("agent_name", "Agent", "choice"),
        Column("rollout_count", "Rollouts", hint=">=4"),
        Column("pass_ratio", "Pass rate", hint="0.2..0.8"),
        Column("band", "Band", "choice", choices=BANDS),
        Column("learnability", "Learnability", hint=">0.2"),
        Column("reward_mean", "Mean reward"),
        Column("reward_std", "Spread", hint=">0"),
        Column("output_tokens_mean", "Output tokens", hint=">1000"),
        Column("total_tokens_mean", "All tokens", hint=">1000"),
        Column("missing_num_rollouts", "Missing", hint=">0"),
        Column("masked_num_rollouts", "Masked", hint=">0"),
    ),
    rows=queries.TASKS,
    key="task_index, agent_name",
    search="prompt",
    marts=("task_bands", "task_profiles"),
    texts=(Texts(queries.PROMPTS, "task_index, agent_name", ("prompt",)),),
)
ROLLOUT_KEY = "task_index, rollout_index"
ROLLOUT_LIST = Source(
    columns=(
        Column("task_index", "Task", hint="12"),
        Column("rollout_index", "Rollout", hint="0"),
        Column("agent_name", "Agent", "choice"),
        Column("reward", "Reward", hint="<1"),
        Column("is_masked", "Masked", "flag"),
        Column("failure_kind", "Failure kind", "choice"),
        Column("failure_reason", "Failure reason", "text"),
        Column("answer", "Answer", "text"),
        Column("input_tokens", "Input tokens", hint=">1000"),
        Column("output_tokens", "Output tokens", hint=">1000"),
        Column("gym_verdict", "NeMo Gym's verdict", "choice"),
        Column("finding_count", "Findings", hint=">0"),
        Column("is_output_empty", "Empty output", "flag"),
        Column("is_truncated", "Truncated", "flag"),
        Column("is_usage_missing", "No usage", "flag"),
        Column("is_response_repeated", "Repeated", "flag"),
        Column("is_verdict_inconsistent", "Inconsistent verdict", "flag"),
        Column("is_ground_truth_suspect", "Suspect ground truth", "flag"),
    ),
    rows=queries.ROLLOUT_ROWS,
    key=ROLLOUT_KEY,
    search="answer",
    marts=("rollout_health", "rollout_infos"),
    texts=(
        Texts(queries.ANSWERS, ROLLOUT_KEY, ("answer",)),
        Texts(queries.FAILURE_TEXTS, ROLLOUT_KEY, ("failure_kind", "failure_reason")),
    ),
)
