{# One row per run, agent and rollout index, for agents with at least two, from a relation of rollouts (run_id, agent_name,
   task_index, rollout_index, is_measured): how many tasks are measured in the repeat, and how many only in others. #}
{% macro repeat_counts(rollouts) -%}
    select
        repeats.run_id,
        repeats.agent_name,
        repeats.rollout_index,
        repeats.sample_count,
        agents.task_count - repeats.sample_count as missing_count
    from (
        select
            run_id,
            agent_name,
            rollout_index,
            count(*) as sample_count
        from {{ rollouts }}
        where is_measured
        group by
            run_id,
            agent_name,
            rollout_index
    ) as repeats
    inner join (
        select
            run_id,
            agent_name,
            count(distinct task_index) as task_count
        from {{ rollouts }}
        where is_measured
        group by
            run_id,
            agent_name
        having count(distinct rollout_index) > 1
    ) as agents using (run_id, agent_name)
{%- endmacro %}
