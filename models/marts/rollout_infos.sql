with

rollouts as (
    select * from {{ ref('int_rollouts_matched') }}
),

metric_values as (
    select * from {{ ref('int_rollout_values') }}
),

headline as (
    select
        run_id,
        task_index,
        rollout_index,
        max(case when metric = 'reward' then value end) as reward,
        max(case when metric = 'input_tokens' then value end) as input_tokens,
        max(case when metric = 'output_tokens' then value end) as output_tokens,
        max(case when metric = 'total_tokens' then value end) as total_tokens
    from metric_values
    where is_usable
        and metric in ('reward', 'input_tokens', 'output_tokens', 'total_tokens')
    group by
        run_id,
        task_index,
        rollout_index
),

infos as (
    select
        rollouts.run_id,
        rollouts.task_index,
        rollouts.rollout_index,
        rollouts.task_index || ':' || rollouts.rollout_index as rollout_id,
        rollouts.agent_name,
        headline.reward,
        headline.input_tokens,
        headline.output_tokens,
        headline.total_tokens,
        {{ rollout_info('rollouts') }} as info
    from rollouts
    left join headline
        on rollouts.run_id = headline.run_id
        and rollouts.task_index = headline.task_index
        and rollouts.rollout_index = headline.rollout_index
)

select * from infos
