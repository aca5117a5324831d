-- as `spotter collect --until` sets it; none otherwise
with

rules as (
    select
        cast(getvariable('spotter_most_rollouts') as bigint) as most_rollouts,
        cast(getvariable('spotter_error_limit') as double) as error_limit
    where getvariable('spotter_most_rollouts') is not null
)

select * from rules
