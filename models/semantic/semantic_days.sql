with

ends as (
    select
        min(cast(profiled_at as date)) as first_day,
        max(cast(profiled_at as date)) as last_day
    from {{ ref('runs') }}
),

numbered as (
    select
        first_day,
        {{ numbers_to(dbt.datediff('first_day', 'last_day', 'day') ~ ' + 1') }}
            as day_number
    from ends
),

days as (
    select first_day + cast(day_number - 1 as integer) as date_day
    from numbered
)

select * from days
