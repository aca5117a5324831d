with

tasks as (
    select * from {{ ref('int_expected_tasks') }}
),

rollouts as (
    select
        run_id,
        task_index,
        count(*) as num_rollouts
    from {{ ref('int_rollouts_matched') }}
    group by
        run_id,
        task_index
),

metrics as (
    select
        run_id,
        task_index,
        {{ wide_metrics() }}
    from {{ ref('task_metrics') }}
    where run_id in (select batch.run_id from {{ ref('stg_runs') }} as batch)
    group by
        run_id,
        task_index
),

-- a task whose rollouts are all missing has no row here: `runs` counts it as dropped
profiles as (
    select
        tasks.run_id,
        tasks.task_index,
        tasks.task_id,
        rollouts.num_rollouts,
        tasks.expected_num_rollouts,
        tasks.expected_num_rollouts - rollouts.num_rollouts as missing_num_rollouts,
        100.0 * rollouts.num_rollouts / tasks.expected_num_rollouts as completion_pct,
        metrics.reward_mean,
        metrics.reward_max,
        metrics.reward_min,
        metrics.reward_median,
        metrics.reward_std,
        metrics.input_tokens_mean,
        metrics.output_tokens_mean,
        metrics.total_tokens_mean,
        tasks.prompt,
        tasks.sample
    from tasks
    inner join rollouts
        on tasks.run_id = rollouts.run_id
        and tasks.task_index = rollouts.task_index
    left join metrics
        on tasks.run_id = metrics.run_id
        and tasks.task_index = metrics.task_index
)

select * from profiles
