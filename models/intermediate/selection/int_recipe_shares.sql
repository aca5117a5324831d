with

shares as (
    select
        {{ rows_of('shares') }}
    from {{ ref('int_recipe') }}
)

select
    kind,
    name,
    share
from shares
