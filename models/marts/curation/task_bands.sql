{%- set tokens = 'rated.output_tokens_mean' -%}
with

-- a task with rollouts but without any reward has a row: it is undecided
rated as (
    select
        tasks.run_id,
        tasks.task_index,
        tasks.agent_name,
        tasks.task_id,
        coalesce(outcomes.rollout_count, 0) as rollout_count,
        coalesce(outcomes.pass_count, 0) as pass_count,
        coalesce(outcomes.is_informative, false) as is_informative,
        outcomes.reward_mean,
        outcomes.reward_std,
        outcomes.output_tokens_mean
    from {{ ref('int_expected_tasks') }} as tasks
    left join {{ ref('int_task_outcomes') }} as outcomes
        using (run_id, task_index, agent_name)
    where tasks.completed_count > 0
),

banded as (
    select
        rated.*,
        records.pass_ratio,
        records.pass_low,
        records.pass_high,
        records.band,
        records.pass_ratio * (1 - records.pass_ratio) as learnability,
        records.informative_ratio_4,
        records.informative_ratio_8,
        records.informative_ratio_16,
        records.informative_ratio_32,
        {{ group_price(4, tokens, 'records.informative_ratio_4') }}
            as tokens_per_informative_group_4,
        {{ group_price(8, tokens, 'records.informative_ratio_8') }}
            as tokens_per_informative_group_8,
        {{ group_price(16, tokens, 'records.informative_ratio_16') }}
            as tokens_per_informative_group_16,
        {{ group_price(32, tokens, 'records.informative_ratio_32') }}
            as tokens_per_informative_group_32
    from rated
    inner join {{ ref('int_pass_count_bands') }} as records
        using (rollout_count, pass_count)
)

select * from banded
