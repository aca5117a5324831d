with

pass_at_k as (
    select * from {{ ref('pass_at_k') }}
)

select * from pass_at_k
