with

-- one rollout of 0 or 1 per task and run: which tasks passed in one run only
outcomes as (
    select
        group_key,
        count(*) as task_count,
        count(case when difference < 0 then 1 end) as lost_count,
        count(case when difference > 0 then 1 end) as gained_count,
        count(case when baseline_value + value = 2 then 1 end) as kept_count
    from {{ ref('int_grouped_differences') }}
    where difference is not null
    group by group_key
    having count(case when is_binary then 1 end) = count(*)
)

select * from outcomes
