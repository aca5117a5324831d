-- in money per million tokens
with

prices as (
    select inline({{ spark__price_list(var('prices') or {}) }})
)

select * from prices
