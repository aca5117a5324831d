with

profiles as (
    select * from {{ ref('task_profiles') }}
),

statistics as (
    select
        run_id,
        task_index,
        {{ text_in_order(stat_members(), ['metric']) }} as members
    from {{ ref('task_metrics') }}
    group by
        run_id,
        task_index
),

infos as (
    select
        run_id,
        task_index,
        {{ text_in_order('info', ['rollout_index']) }} as infos
    from {{ ref('rollout_infos') }}
    group by
        run_id,
        task_index
),

lines as (
    select
        profiles.run_id,
        profiles.task_index,
        '{"_ng_task_index":' || profiles.task_index
        || coalesce(',' || statistics.members, '')
        || ',"sample":' || profiles.sample
        || ',"num_rollouts":' || profiles.num_rollouts
        || ',"expected_num_rollouts":' || profiles.expected_num_rollouts
        || ',"missing_num_rollouts":' || profiles.missing_num_rollouts
        || ',"reward_profile_completion_pct":'
        || {{ json_number('profiles.completion_pct') }}
        || ',"rollout_infos":[' || infos.infos || ']}' as line
    from profiles
    inner join infos
        on profiles.run_id = infos.run_id
        and profiles.task_index = infos.task_index
    left join statistics
        on profiles.run_id = statistics.run_id
        and profiles.task_index = statistics.task_index
)

select * from lines
