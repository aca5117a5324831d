with

runs as (
    {{ staged_runs() }}
)

select * from runs
