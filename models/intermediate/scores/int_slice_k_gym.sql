-- NeMo Gym's own figures in percent, for the reward and for the lack of an answer
with

means as (
    select * from {{ ref('int_slice_k_means') }}
),

-- a task with fewer than k rollouts counts with the figure of all it has, and a task
-- with one rollout has no deviation
carried as (
    select
        *,
        task_count + coalesce(sum(last_task_count) over smaller, 0) as all_task_count,
        first_value(last_task_count) over so_far as single_task_count,
        reward_average_sum
        + coalesce(sum(last_reward_average_sum) over smaller, 0) as reward_average,
        reward_deviation_sum
        + coalesce(sum(last_reward_deviation_sum) over smaller, 0) as reward_deviation,
        lacking_average_sum
        + coalesce(sum(last_lacking_average_sum) over smaller, 0) as lacking_average,
        lacking_deviation_sum
        + coalesce(sum(last_lacking_deviation_sum) over smaller, 0)
            as lacking_deviation,
        gym_majority_sum
        + coalesce(sum(last_gym_majority_sum) over smaller, 0) as gym_majority,
        -- offsets from the first run: squares of large and close figures lose digits
        reward - first_value(reward) over so_far as reward_offset,
        lacks_answer - first_value(lacks_answer) over so_far as lacking_offset
    from means
    window
        so_far as (
            partition by run_id, agent_name, slice_by, slice_value order by k
        ),
        smaller as (
            partition by run_id, agent_name, slice_by, slice_value order by k
            rows between unbounded preceding and 1 preceding
        )
),

spread as (
    select
        *,
        case when k > 1 then nullif(all_task_count - single_task_count, 0) end
            as repeated_task_count,
        sum(reward_offset) over so_far as reward_total,
        sum(reward_offset * reward_offset) over so_far as reward_squares,
        sum(lacking_offset) over so_far as lacking_total,
        sum(lacking_offset * lacking_offset) over so_far as lacking_squares
    from carried
    window so_far as (
        partition by run_id, agent_name, slice_by, slice_value order by k
    )
),

runs as (
    select
        *,
        {{ prefix_std('reward_total', 'reward_squares', 'k') }} as reward_std,
        {{ prefix_std('lacking_total', 'lacking_squares', 'k') }} as lacking_std
    from spread
),

figures as (
    select
        run_id,
        agent_name,
        slice_by,
        slice_value,
        k,
        cast(all_task_count as bigint) as all_task_count,
        {{ gym_percent('gym_pass') }} as gym_pass_at_k,
        {{ gym_percent('reward_average / all_task_count') }} as gym_avg_of_k,
        {{ gym_percent('gym_majority / all_task_count', 'has_answers') }}
            as gym_majority_at_k,
        {{ gym_percent('reward') }} as gym_run_average,
        {{ gym_percent('reward_std') }} as gym_std_dev_across_runs,
        {{ gym_percent('reward_std / sqrt(k)') }} as gym_std_err_across_runs,
        {{ finite('reward_deviation / repeated_task_count') }}
            as gym_avg_sample_std_dev,
        {{ gym_percent('lacking_chance', 'has_answers') }} as gym_no_answer_pass_at_k,
        {{ gym_percent('lacking_average / all_task_count', 'has_answers') }}
            as gym_no_answer_avg_of_k,
        -- only answers vote, so a winner never lacks one
        case when has_answers then 0e0 end as gym_no_answer_majority_at_k,
        {{ gym_percent('lacks_answer', 'has_answers') }} as gym_no_answer_run_average,
        {{ gym_percent('lacking_std', 'has_answers') }}
            as gym_no_answer_std_dev_across_runs,
        {{ gym_percent('lacking_std / sqrt(k)', 'has_answers') }}
            as gym_no_answer_std_err_across_runs,
        case when has_answers then lacking_deviation / repeated_task_count end
            as gym_no_answer_avg_sample_std_dev
    from runs
)

select * from figures
