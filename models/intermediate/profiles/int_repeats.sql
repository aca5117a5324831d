with

repeats as (
    {{ repeat_counts(ref('int_rollouts_matched')) }}
)

select * from repeats
