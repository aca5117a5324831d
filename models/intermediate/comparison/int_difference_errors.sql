with

-- the standard errors of each difference, and what its interval needs besides
errors as (
    select
        differences.*,
        groups.pair_key,
        groups.score,
        groups.slice_by,
        groups.slice_value,
        pairs.alpha,
        clusters.cluster_count,
        case
            when pairs.cluster_by is null then differences.std_error
            else clusters.cluster_std_error
        end as task_std_error,
        noises.fixed_std_error,
        noises.noise_floor,
        noises.within_variance,
        noises.rollout_variance,
        {{ upper_normal_quantile('(pairs.alpha / 2)') }} as z,
        case
            when pairs.cluster_by is null then differences.task_count
            else coalesce(clusters.cluster_count, 0)
        end as unit_count,
        outcomes.group_key is not null and pairs.cluster_by is null as is_binary,
        differences.task_count between 2 and 29
        and outcomes.group_key is null and pairs.cluster_by is null as is_permuted,
        outcomes.kept_count,
        outcomes.lost_count,
        outcomes.gained_count,
        1e0 * least(differences.baseline_rollout_count, differences.rollout_count)
            as smaller_rollout_count
    from {{ ref('int_slice_differences') }} as differences
    inner join {{ ref('int_compared_groups') }} as groups using (group_key)
    inner join {{ ref('int_compared_runs') }} as pairs using (pair_key)
    inner join {{ ref('int_slice_noises') }} as noises using (group_key)
    left join {{ ref('int_cluster_errors') }} as clusters using (group_key)
    left join {{ ref('int_paired_outcomes') }} as outcomes using (group_key)
)

select * from errors
