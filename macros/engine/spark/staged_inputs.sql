{# One row per line of the inputs. The files are read twice: which line of a task is kept whole depends on who was asked,
   and on whose rollout is the first with a result. #}
{% macro spark__staged_inputs() -%}
    {%- set params = "fields['responses_create_params']" -%}
    {%- set parsed_params = "variants['responses_create_params']" -%}
    with

    runs as (
        select * from {{ ref('stg_runs') }}
    ),

    names as (
        select
            runs.run_id,
            {{ spark__json_integer('keys._ng_task_index') }} as task_index,
            {{ spark__json_integer('keys._ng_rollout_index') }} as rollout_index,
            coalesce(keys._ng_environment_server, get_json_object(keys.agent_ref, '$.name')) as runner
        from {{ spark__read_keys('inputs') }} as keys
        inner join runs on keys.file_path = runs.inputs_file
    ),

    -- one line per task and agent: the first whose result is measured, else the first with a result
    samples as (
        select distinct
            run_id,
            task_index,
            rollout_index,
            true as is_sample
        from (
            select
                names.run_id,
                names.task_index,
                coalesce(
                    min(case when rollouts.is_measured then rollouts.rollout_index end),
                    min(rollouts.rollout_index)
                ) as rollout_index
            from names
            inner join {{ ref('stg_rollouts') }} as rollouts using (run_id, task_index, rollout_index)
            where rollouts.is_readable
            group by
                names.run_id,
                names.task_index,
                coalesce(names.runner, rollouts.agent_name)
        ) as firsts
    ),

    lines as (
        select
            runs.run_id,
            runs.slice_by,
            lines.line,
            lines.fields,
            lines.texts,
            lines.variants,
            {{ spark__json_integer("lines.fields['_ng_task_index']") }} as task_index,
            {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
            lines.fields['agent_ref'] as agent_ref
        from {{ spark__read_rows('inputs') }} as lines
        inner join runs on lines.file_path = runs.inputs_file
    ),

    marked as (
        select
            lines.*,
            coalesce(samples.is_sample, false) as is_sample
        from lines
        left join samples
            on lines.run_id = samples.run_id
            and lines.task_index = samples.task_index
            and lines.rollout_index = samples.rollout_index
    ),

    inputs as (
        select
            run_id,
            task_index,
            rollout_index,
            get_json_object(agent_ref, '$.name') as agent_name,
            texts['_ng_environment_server'] as server_name,
            texts['_ng_source_task'] as task_name,
            case
                when is_sample
                    then {{ content_hash('map_entries(fields)', spark__json_members(params)) }}
            end as task_id,
            case when is_sample then {{ spark__prompt(params) }} end as prompt,
            case when is_sample then {{ sample_text('map_entries(fields)') }} end as sample,
            case
                when is_sample
                    then named_struct(
                        'temperature', try_variant_get({{ parsed_params }}, '$.temperature', 'double'),
                        'top_p', try_variant_get({{ parsed_params }}, '$.top_p', 'double'),
                        'max_output_tokens', try_variant_get({{ parsed_params }}, '$.max_output_tokens', 'bigint'),
                        'effort', try_variant_get({{ parsed_params }}, '$.reasoning.effort', 'string')
                    )
            end as params,
            {{ spark__slice_values('fields', 'texts', 'slice_by') }} as slice_values,
            task_index is not null
            and rollout_index is not null
            and not {{ spark__has_repeated_name('agent_ref') }}
            and not (is_sample and {{ spark__has_non_finite('line') }}) as is_readable
        from marked
    )

    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        server_name,
        task_name,
        task_id,
        prompt,
        sample,
        {{ spark__sampling('params', 'params.effort') }} as sampling,
        slice_values,
        is_readable
    from inputs
{%- endmacro %}

{# Whether an object names a field twice. The first look is cheap: hardly any agent_ref holds its name twice. #}
{% macro spark__has_repeated_name(json) -%}
    case
        when {{ json }} like '%"name"%"name"%'
            then coalesce(
                array_size(array_distinct(map_keys(from_json({{ json }}, 'map<string, string>'))))
                != array_size(map_keys(from_json({{ json }}, 'map<string, string>'))),
                false
            )
        else false
    end
{%- endmacro %}

{# Whether a text holds NaN or Infinity as a number. The first look is cheap but may match inside a string; the second
   takes the strings out. Without the possessive `++` and `*+` a long string would overflow the stack. #}
{% macro spark__has_non_finite(text) -%}
    case
        when {{ text }} rlike r'(?i)[:,\[]\s*-?(nan|inf)'
            then regexp_replace({{ text }}, r'(?s)"(?:[^"\\]++|\\.)*+"', '') rlike '(?i)nan|inf'
        else false
    end
{%- endmacro %}
