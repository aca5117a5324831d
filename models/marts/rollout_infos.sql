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
        {{ field_number('reward') }} as reward,
        {{ field_number('input_tokens') }} as input_tokens,
        {{ field_number('output_tokens') }} as output_tokens,
        {{ field_number('total_tokens') }} as total_tokens,
        {{ rollout_info() }} as info
    from rollouts
)

select * from infos
