-- NeMo Gym's own figures, in percent as there, for the reward and for having no answer
with

sums as (
    select
        *,
        reward_sum / task_count as reward_run,
        lacks_answer_sum / task_count as lacking_run,
        nullif(all_task_count - single_task_count, 0) as repeated_task_count
    from {{ ref('int_k_sums') }}
),

runs_so_far as (
    select
        *,
        {{ list_so_far('reward_run', ['slice_key'], 'k') }} as reward_runs,
        {{ list_so_far('lacking_run', ['slice_key'], 'k') }} as lacking_runs
    from sums
),

-- a mean of its own: inside the deviation it would be taken again for every value
centered as (
    select
        *,
        {{ list_mean('reward_runs') }} as reward_center,
        {{ list_mean('lacking_runs') }} as lacking_center
    from runs_so_far
),

deviating as (
    select
        *,
        {{ list_std('reward_runs', 'reward_center') }} as reward_run_std,
        {{ list_std('lacking_runs', 'lacking_center') }} as lacking_run_std
    from centered
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
        -- only answers vote, so none of the elected lacks one
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
