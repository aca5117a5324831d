with

shares as (
    select {{ rows_of('shares') }}
    from {{ ref('base_recipes') }}
)

select * from shares
