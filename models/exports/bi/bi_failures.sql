with

failures as (
    select * from {{ ref('failures') }}
)

select * from failures
