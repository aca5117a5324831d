with

prices as (
    {{ staged_prices() }}
)

select * from prices
