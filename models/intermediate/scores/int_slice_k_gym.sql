-- NeMo Gym's own figures in percent, for the reward and for the lack of an answer
with

sums as (
    select
        *,
        reward_sum / task_count as reward_run,
        lacks_answer_sum / task_count as lacking_run,
        nullif(all_task_count - single_task_count, 0) as repeated_task_count
    from {{ ref('int_slice_k_totals') }}
),

-- offsets from the first run: squares of large and close figures lose digits
offsets as (
    select
        *,
        reward_run - first_value(reward_run) over so_far as reward_offset,
        lacking_run - first_value(lacking_run) over so_far as lacking_offset
    from sums
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

deviating as (
    select
        *,
        {{ prefix_std('reward_total', 'reward_squares', 'k') }} as reward_run_std,
        {{ prefix_std('lacking_total', 'lacking_squares', 'k') }} as lacking_run_std
    from squares
),

curves as (
    select
        slice_key,
        k,
        {{ gym_percent('gym_pass_sum / task_count') }} as gym_pass_at_k,
        {{ gym_percent('reward_average_sum / all_task_count') }} as gym_avg_of_k,
        {{ gym_percent('gym_majority_sum / all_task_count', 'has_answers') }}
            as gym_majority_at_k,
        {{ gym_percent('reward_run') }} as gym_run_average,
        {{ gym_percent('reward_run_std') }} as gym_std_dev_across_runs,
        {{ gym_percent('reward_run_std / sqrt(k)') }} as gym_std_err_across_runs,
        case
            when k > 1
                then {{ finite('reward_deviation_sum / repeated_task_count') }}
        end as gym_avg_sample_std_dev,
        {{ gym_percent('lacking_chance_sum / task_count', 'has_answers') }}
            as gym_no_answer_pass_at_k,
        {{ gym_percent('lacking_average_sum / all_task_count', 'has_answers') }}
            as gym_no_answer_avg_of_k,
        -- only answers vote, so a winner never lacks one
        case when has_answers then cast(0 as double) end as gym_no_answer_majority_at_k,
        {{ gym_percent('lacking_run', 'has_answers') }} as gym_no_answer_run_average,
        {{ gym_percent('lacking_run_std', 'has_answers') }}
            as gym_no_answer_std_dev_across_runs,
        {{ gym_percent('lacking_run_std / sqrt(k)', 'has_answers') }}
            as gym_no_answer_std_err_across_runs,
        case
            when k > 1 and has_answers
                then lacking_deviation_sum / repeated_task_count
        end as gym_no_answer_avg_sample_std_dev
    from deviating
)

select * from curves
