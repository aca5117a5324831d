with

mask_kinds as (
    select * from {{ ref('mask_kinds') }}
)

select * from mask_kinds
