with

repeat_metrics as (
    select * from {{ ref('repeat_metrics') }}
)

select * from repeat_metrics
