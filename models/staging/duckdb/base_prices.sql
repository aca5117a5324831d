-- in money per million tokens
with

prices as (
    select unnest(getvariable('spotter_prices'), recursive := true)
)

select * from prices
