-- in money per million tokens
with

declared as (
    select unnest(getvariable('spotter_prices')) as price
),

prices as (
    select price.* from declared
)

select * from prices
