-- 1 belongs to the last tenth
with

tasks as (
    select
        *,
        cast({{ tenth('pass_count', 'rollout_count') }} as bigint) as tenth
    from {{ ref('selected_tasks') }}
    where rollout_count > 0
),

histograms as (
    select
        run_id,
        tenth,
        count(*) as candidate_count,
        count(position) as chosen_count
    from tasks
    group by
        run_id,
        tenth
)

select * from histograms
