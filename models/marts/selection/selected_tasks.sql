with

recipe as (
    select * from {{ ref('stg_recipes') }}
),

placed as (
    select
        picked.task_index,
        picked.agent_name,
        steps.step,
        row_number() over (
            order by
                steps.step,
                case recipe.task_order
                    when 'easy_to_hard' then -picked.pass_ratio
                    when 'hard_to_easy' then picked.pass_ratio
                    when 'as_input' then picked.task_index
                end,
                picked.draw
        ) as position
    from {{ ref('int_picked_tasks') }} as picked
    left join {{ ref('int_curriculum_steps') }} as steps
        using (task_index, agent_name)
    cross join recipe
),

selected as (
    select
        tasks.run_id,
        tasks.task_index,
        tasks.agent_name,
        tasks.task_id,
        tasks.rollout_index,
        tasks.completed_rollout_count,
        tasks.missing_rollout_count,
        tasks.rollout_count,
        tasks.pass_count,
        tasks.pass_ratio,
        tasks.pass_low,
        tasks.pass_high,
        tasks.band,
        tasks.output_tokens_mean,
        tasks.informative_ratio_8,
        tasks.informative_ratio_16,
        tasks.is_zero_variance,
        tasks.is_zero_outcome_variance,
        case
            when tasks.fate != 'keep' or placed.position is not null then tasks.reason
            when capped.task_index is null then 'slice_limit'
            when targeted.task_index is null then 'target'
            else 'limit'
        end as reason,
        case
            when tasks.fate = 'keep' and placed.position is null then 'drop'
            else tasks.fate
        end as fate,
        changes.change,
        placed.step,
        cast(placed.position as bigint) as position
    from {{ ref('int_judged_tasks') }} as tasks
    left join {{ ref('int_capped_tasks') }} as capped using (task_index, agent_name)
    left join {{ ref('int_target_picks') }} as targeted using (task_index, agent_name)
    left join placed using (task_index, agent_name)
    left join {{ ref('int_band_changes') }} as changes using (task_index, agent_name)
)

select * from selected
