with

groups as (
    select
        groups.group_key,
        groups.pair_key,
        pairs.alpha
    from {{ ref('int_compared_groups') }} as groups
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
),

-- the degrees of freedom that any interval of a comparison needs
needed as (
    select
        groups.alpha,
        cast(differences.task_count - 1 as double) as degrees
    from {{ ref('int_slice_differences') }} as differences
    inner join groups using (group_key)
    union
    select
        groups.alpha,
        cast(clusters.cluster_count - 1 as double) as degrees
    from {{ ref('int_cluster_errors') }} as clusters
    inner join groups using (group_key)
    union
    select
        groups.alpha,
        cast(bounds.task_count - 1 as double) as degrees
    from {{ ref('int_slice_bounds') }} as bounds
    inner join groups using (group_key)
    union
    select
        pairs.alpha,
        cast(efforts.task_count - 1 as double) as degrees
    from {{ ref('int_effort_groups') }} as efforts
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        pairs.alpha,
        cast(verdicts.task_count - 1 as double) as degrees
    from {{ ref('int_verdict_sums') }} as verdicts
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    union
    select
        alpha,
        degrees
    from {{ ref('int_gym_intervals') }}
)

select * from needed
where degrees > 0
