with

prices as (
    select {{ unnest_entries(setting('prices')) }}
)

select * from prices
