-- NeMo Gym's own figures in percent, for the reward and for the lack of an answer
with

-- offsets from the first run: squares of large and close figures lose digits
offsets as (
    select
        *,
        reward - first_value(reward) over so_far as reward_offset,
        lacks_answer - first_value(lacks_answer) over so_far as lacking_offset
    from {{ ref('int_slice_k_means') }}
    window so_far as (partition by slice_key order by k)
),

squares as (
    select
        *,
        sum(reward_offset) over so_far as reward_total,
        sum(reward_offset * reward_offset) over so_far as reward_squares,
        sum(lacking_offset) over so_far as lacking_total,
        sum(lacking_offset * lacking_offset) over so_far as lacking_squares
    from offsets
    window so_far as (partition by slice_key order by k)
),

runs as (
    select
        *,
        {{ prefix_std('reward_total', 'reward_squares', 'k') }} as reward_std,
        {{ prefix_std('lacking_total', 'lacking_squares', 'k') }} as lacking_std
    from squares
),

figures as (
    select
        slice_key,
        k,
        tasks.task_count as all_task_count,
        {{ gym_percent('runs.gym_pass') }} as gym_pass_at_k,
        {{ gym_percent('tasks.reward_average') }} as gym_avg_of_k,
        {{ gym_percent('tasks.gym_majority', 'runs.has_answers') }}
            as gym_majority_at_k,
        {{ gym_percent('runs.reward') }} as gym_run_average,
        {{ gym_percent('runs.reward_std') }} as gym_std_dev_across_runs,
        {{ gym_percent('runs.reward_std / sqrt(k)') }} as gym_std_err_across_runs,
        {{ finite('tasks.reward_deviation') }} as gym_avg_sample_std_dev,
        {{ gym_percent('runs.lacking_chance', 'runs.has_answers') }}
            as gym_no_answer_pass_at_k,
        {{ gym_percent('tasks.lacking_average', 'runs.has_answers') }}
            as gym_no_answer_avg_of_k,
        -- only answers vote, so a winner never lacks one
        case when runs.has_answers then 0e0 end as gym_no_answer_majority_at_k,
        {{ gym_percent('runs.lacks_answer', 'runs.has_answers') }}
            as gym_no_answer_run_average,
        {{ gym_percent('runs.lacking_std', 'runs.has_answers') }}
            as gym_no_answer_std_dev_across_runs,
        {{ gym_percent('runs.lacking_std / sqrt(k)', 'runs.has_answers') }}
            as gym_no_answer_std_err_across_runs,
        case when runs.has_answers then tasks.lacking_deviation end
            as gym_no_answer_avg_sample_std_dev
    from runs
    inner join {{ ref('int_slice_k_all_tasks') }} as tasks using (slice_key, k)
)

select * from figures
