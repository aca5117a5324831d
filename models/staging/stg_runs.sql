with

runs as (
    select
        *,
        {{ utc_now() }} as profiled_at
    from {{ ref('base_runs') }}
)

select * from runs
