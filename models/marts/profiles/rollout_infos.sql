with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

infos as (
    select
        run_id,
        task_index,
        rollout_index,
        task_index || ':' || rollout_index as rollout_id,
        agent_name,
        reward,
        input_tokens,
        output_tokens,
        total_tokens,
        {{ rollout_info() }} as info
    from rollouts
)

select * from infos
