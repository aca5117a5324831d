-- tasks by tenths of their pass rate; 1 belongs to the last tenth
with

histograms as (
    select
        stage,
        {{ tenth('pass_count', 'rollout_count') }} as tenth,
        count(*) as task_count
    from {{ ref('int_selection_stages') }}
    where rollout_count > 0
    group by
        stage,
        {{ tenth('pass_count', 'rollout_count') }}
)

select * from histograms
