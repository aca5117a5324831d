-- every task once as a candidate and, if it was chosen, once more
with

stages as (
    select
        'before' as stage,
        *
    from {{ ref('int_selected_tasks') }}
    union all
    select
        'after' as stage,
        *
    from {{ ref('int_selected_tasks') }}
    where position is not null
)

select * from stages
