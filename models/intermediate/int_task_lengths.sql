{%- set passing = 'case when is_pass then output_tokens end' -%}
{%- set failing = 'case when not is_pass then output_tokens end' -%}
with

grouped as (
    select
        task_key,
        count(*) as rollout_count,
        {{ list_in_order('reward', ['place']) }} as rewards,
        {{ list_in_order('output_tokens', ['place']) }} as tokens,
        {{ without_nulls(list_in_order(passing, ['place'])) }} as passing_tokens,
        {{ without_nulls(list_in_order(failing, ['place'])) }} as failing_tokens
    from {{ ref('int_scored_rollouts') }}
    where output_tokens is not null
    group by
        task_key
),

centered as (
    select
        *,
        {{ list_mean('rewards') }} as reward_mean,
        {{ list_mean('tokens') }} as tokens_mean
    from grouped
),

lengths as (
    select
        task_key,
        rollout_count,
        reward_mean,
        tokens_mean,
        {{ list_min('rewards') }} as reward_min,
        {{ list_max('rewards') }} as reward_max,
        {{ list_min('tokens') }} as tokens_min,
        {{ list_max('tokens') }} as tokens_max,
        {{ list_codeviation('rewards', 'rewards', 'reward_mean', 'reward_mean') }}
            as reward_squares,
        {{ list_codeviation('tokens', 'tokens', 'tokens_mean', 'tokens_mean') }}
            as tokens_squares,
        {{ list_codeviation('rewards', 'tokens', 'reward_mean', 'tokens_mean') }}
            as products,
        {{ list_mean('passing_tokens') }} as passing_tokens_mean,
        {{ list_mean('failing_tokens') }} as failing_tokens_mean
    from centered
)

select * from lengths
