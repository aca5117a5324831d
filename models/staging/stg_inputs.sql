{%- set indices = ['_ng_task_index', '_ng_rollout_index'] -%}
{%- set entries = map_entries('fields') -%}
{%- set params = map_field('fields', 'responses_create_params') -%}
with

runs as (
    select * from {{ ref('stg_runs') }}
),

-- the files are read twice: the runner decides which whole lines to keep
names as (
    select
        runs.run_id,
        {{ json_integer('keys._ng_task_index') }} as task_index,
        {{ json_integer('keys._ng_rollout_index') }} as rollout_index,
        coalesce(
            {{ json_text('keys._ng_environment_server') }},
            {{ json_text_field('keys.agent_ref', 'name') }}
        ) as runner
    from {{ read_keys('inputs') }} as keys
    inner join runs on keys.file_path = runs.inputs_file
),

-- One line per task and agent is kept whole: the first whose result is measured, else
-- the first with a result.
first_completed as (
    select
        names.run_id,
        names.task_index,
        coalesce(
            min(case when rollouts.is_measured then rollouts.rollout_index end),
            min(rollouts.rollout_index)
        ) as rollout_index
    from names
    inner join {{ ref('stg_rollouts') }} as rollouts
        on names.run_id = rollouts.run_id
        and names.task_index = rollouts.task_index
        and names.rollout_index = rollouts.rollout_index
    where rollouts.is_readable
    group by
        names.run_id,
        names.task_index,
        coalesce(names.runner, rollouts.agent_name)
),

lines as (
    select
        runs.run_id,
        lines.fields,
        {{ json_integer(map_field('fields', '_ng_task_index')) }} as task_index,
        {{ json_integer(map_field('fields', '_ng_rollout_index')) }} as rollout_index,
        {{ map_field('fields', 'agent_ref') }} as agent_ref,
        {{ json_text(map_field('fields', '_ng_environment_server')) }} as server_name
    from {{ read_rows('inputs') }} as lines
    inner join runs on lines.file_path = runs.inputs_file
),

marked as (
    select
        *,
        (lines.run_id, lines.task_index, lines.rollout_index) in (
            select (kept.run_id, kept.task_index, kept.rollout_index)
            from first_completed as kept
        ) as is_kept
    from lines
),

inputs as (
    select
        run_id,
        task_index,
        rollout_index,
        {{ json_text_field('agent_ref', 'name') }} as agent_name,
        server_name,
        case when is_kept then {{ content_hash(entries, json_entries(params)) }} end
            as task_id,
        case when is_kept then {{ prompt_text(params) }} end as prompt,
        case when is_kept then {{ json_without(entries, indices) }} end as sample,
        {{ slice_values('fields') }} as slice_values,
        task_index is not null
        and rollout_index is not null
        and not case
            when {{ mentions_twice('agent_ref', 'name') }}
                then {{ has_repeated_key('agent_ref') }}
            else false
        end as has_clear_keys
    from marked
),

checked as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        task_id,
        prompt,
        sample,
        slice_values,
        has_clear_keys and not {{ has_non_finite('sample') }} as is_readable
    from inputs
)

select * from checked
