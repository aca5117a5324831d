with

rollouts as (
    {{ staged_rollouts() }}
)

select * from rollouts
