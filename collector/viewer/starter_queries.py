"""Queries to start with on the SQL page; each works on every warehouse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """An example query, with the question that it answers."""

    title: str
    query: str


@dataclass(frozen=True)
class ExampleGroup:
    """Example queries about the same subject."""

    title: str
    examples: tuple[Example, ...]


LATEST_TWO = """with latest as (
    select run_id, row_number() over (order by profiled_at desc, run_id) as place
    from runs
),
before as (
    select task_bands.*
    from task_bands
    inner join latest on task_bands.run_id = latest.run_id and latest.place = 2
),
after as (
    select task_bands.*
    from task_bands
    inner join latest on task_bands.run_id = latest.run_id and latest.place = 1
)
"""
COMPARE = ExampleGroup(
    "Compare runs",
    (
        Example(
            "How did each run do?",
            """select
    run_id,
    agent_name,
    max(value) filter (score = 'mean_reward') as mean_reward,
    max(low) filter (score = 'mean_reward') as low,
    max(high) filter (score = 'mean_reward') as high,
    max(value) filter (score = 'pass_rate') as pass_at_1,
    max(task_count) as tasks
from agent_scores
where slice_by = 'all'
group by run_id, agent_name
order by mean_reward desc""",
        ),
        Example(
            "Which tasks moved most between the two latest runs?",
            f"""{LATEST_TWO}select
    after.run_id,
    after.task_index,
    before.run_id as baseline_run_id,
    before.task_index as baseline_task_index,
    before.pass_ratio as pass_ratio_before,
    after.pass_ratio as pass_ratio_after,
    after.reward_mean - before.reward_mean as difference
from after
inner join before using (task_id, agent_name)
order by abs(difference) desc, after.task_index
limit 50""",
        ),
        Example(
            "In which slices do the runs differ?",
            """select
    slice_by,
    slice_value,
    run_id,
    value as mean_reward,
    low,
    high,
    task_count
from agent_scores
where score = 'mean_reward' and slice_by != 'all'
order by slice_by, slice_value, run_id""",
        ),
        Example(
            "What did a pass cost?",
            """select
    run_id,
    agent_name,
    count(*) filter (reward >= 1) as passes,
    sum(output_tokens) as output_tokens,
    sum(output_tokens) / nullif(count(*) filter (reward >= 1), 0) as output_tokens_per_pass
from rollout_infos
where is_measured
group by run_id, agent_name
order by output_tokens_per_pass""",
        ),
    ),
)
CHOOSE = ExampleGroup(
    "Choose tasks",
    (
        Example(
            "Which tasks can a model learn from?",
            """select run_id, task_index, agent_name, pass_ratio, pass_low, pass_high, learnability
from task_bands
where band = 'learnable' and is_informative
order by learnability desc, run_id, task_index
limit 100""",
        ),
        Example(
            "Which undecided tasks need more rollouts most?",
            """select run_id, task_index, agent_name, rollout_count, pass_ratio, pass_low, pass_high
from task_bands
where band = 'undecided'
order by pass_high - pass_low desc, run_id, task_index
limit 100""",
        ),
        Example(
            "Which tasks does no run solve?",
            """select
    task_id,
    count(distinct run_id) as runs,
    max(reward_mean) as best,
    any_value(prompt) as prompt
from task_profiles
group by task_id
having max(reward_max) < 1
order by runs desc, best
limit 100""",
        ),
        Example(
            "Which tasks may have a wrong ground truth?",
            """select run_id, task_index, rollout_index, answer
from rollout_health
where is_ground_truth_suspect
order by run_id, task_index, rollout_index
limit 100""",
        ),
    ),
)
LOOK = ExampleGroup(
    "Look into a run",
    (
        Example(
            "Which tasks are hardest?",
            """select run_id, task_index, agent_name, reward_mean, measured_rollout_count, prompt
from task_profiles
order by reward_mean, run_id, task_index, agent_name
limit 20""",
        ),
        Example(
            "Which rollouts are longest?",
            """select run_id, task_index, rollout_index, reward, output_tokens
from rollout_infos
order by output_tokens desc nulls last
limit 20""",
        ),
        Example(
            "Does the reward depend on the length?",
            """select run_id, agent_name, corr(reward, output_tokens) as correlation
from rollout_infos
group by all
order by all""",
        ),
        Example(
            "Which rollouts are masked, and why?",
            "select * from mask_kinds order by rollout_count desc",
        ),
        Example(
            "Which attempts failed?",
            "select * from failure_classes order by attempt_count desc",
        ),
        Example("What is in a table?", "summarize task_profiles"),
    ),
)
EXAMPLES = (COMPARE, CHOOSE, LOOK)
