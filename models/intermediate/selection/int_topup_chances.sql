-- The smallest number of further rollouts after which the rules may decide, and the
-- chance that they do, if every pass rate was equally likely before the first rollout.
with

weighted as (
    select
        *,
        {{ log_choose('more_rollouts', 'more_passes') }}
        + {{ log_beta('passes + 1', 'rollouts - passes + 1') }}
        - {{ log_beta('pass_count + 1', 'rollout_count - pass_count + 1') }}
            as log_chance
    from {{ ref('int_topup_futures') }}
    where is_decided
),

chances as (
    select
        rollout_count,
        pass_count,
        more_rollouts,
        {{ sum_in_order('exp(log_chance)', ['more_passes']) }} as chance
    from weighted
    group by
        rollout_count,
        pass_count,
        more_rollouts
)

select * from chances
qualify
    row_number() over (
        partition by rollout_count, pass_count order by more_rollouts
    ) = 1
