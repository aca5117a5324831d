with

-- tasks with the same counts have the same chance
records as (
    select distinct
        baseline_pass_count,
        baseline_rollout_count - baseline_pass_count as baseline_fail_count,
        pass_count,
        rollout_count - pass_count as fail_count
    from {{ ref('int_compared_tasks') }}
    where baseline_rollout_count > 0 and rollout_count > 0
),

places as (
    select
        *,
        {{ numbers_to('pass_count', first=0) }} as place
    from records
),

-- P(candidate's rate > baseline's) for two independent posteriors with uniform priors,
-- as a finite sum over beta functions
terms as (
    select
        *,
        exp(
            {{ log_beta(
                'baseline_pass_count + 1 + place',
                'baseline_fail_count + fail_count + 2'
            ) }}
            - {{ log_beta('place + 1', 'fail_count + 1') }}
            - {{ log_beta('baseline_pass_count + 1', 'baseline_fail_count + 1') }}
        ) / (fail_count + 1 + place) as term
    from places
),

chances as (
    select
        baseline_pass_count,
        baseline_fail_count + baseline_pass_count as baseline_rollout_count,
        pass_count,
        fail_count + pass_count as rollout_count,
        least(1e0, {{ sum_in_order('term', ['place']) }}) as rise_chance
    from terms
    group by
        baseline_pass_count,
        baseline_fail_count,
        pass_count,
        fail_count
)

select * from chances
