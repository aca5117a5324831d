with

-- a model without a price for cached tokens charges for them as for others
prices as (
    select
        model,
        input,
        coalesce(cached_input, input) as cached_input,
        output
    from {{ ref('base_prices') }}
)

select * from prices
