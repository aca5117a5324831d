{%- set params = "fields['responses_create_params']" -%}
{%- set parsed_params = "variants['responses_create_params']" -%}
with

runs as (
    select * from {{ ref('stg_runs') }}
),

samples as (
    select distinct
        run_id,
        task_index,
        rollout_index,
        true as is_sample
    from {{ ref('base_samples') }}
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
        coalesce(samples.is_sample, false) as is_sample,
        map_keys(from_json(lines.agent_ref, 'map<string, string>')) as agent_ref_keys
    from lines
    left join samples
        on lines.run_id = samples.run_id
        and lines.task_index = samples.task_index
        and lines.rollout_index = samples.rollout_index
),

-- the rest is read of the samples only
read as (
    select
        *,
        case when is_sample then map_entries(fields) end as input_fields,
        case when is_sample then {{ spark__json_members(params) }} end as param_fields,
        case when is_sample then {{ spark__prompt(params) }} end as prompt,
        case
            when is_sample
                then named_struct(
                    'temperature',
                    try_variant_get({{ parsed_params }}, '$.temperature', 'double'),
                    'top_p',
                    try_variant_get({{ parsed_params }}, '$.top_p', 'double'),
                    'max_output_tokens',
                    try_variant_get({{ parsed_params }}, '$.max_output_tokens', 'bigint'),
                    'effort',
                    try_variant_get({{ parsed_params }}, '$.reasoning.effort', 'string')
                )
        end as params
    from marked
),

inputs as (
    select
        run_id,
        task_index,
        rollout_index,
        get_json_object(agent_ref, '$.name') as agent_name,
        texts['_ng_environment_server'] as server_name,
        texts['_ng_source_task'] as task_name,
        is_sample,
        input_fields,
        param_fields,
        prompt,
        {{ spark__sampling('params') }} as sampling,
        {{ spark__slice_values('fields', 'texts', 'slice_by') }} as slice_values,
        coalesce(
            agent_ref like '%"name"%"name"%'
            and array_size(array_distinct(agent_ref_keys)) != array_size(agent_ref_keys),
            false
        ) as has_repeated_name,
        -- NaN or Infinity as a number: the first look may match inside a string, the second
        -- takes the strings out; without the possessive `++` and `*+` a long string would
        -- overflow the stack
        coalesce(
            is_sample
            and line rlike r'(?i)[:,\[]\s*-?(nan|inf)'
            and regexp_replace(line, r'(?s)"(?:[^"\\]++|\\.)*+"', '')
                rlike '(?i)nan|inf',
            false
        ) as has_non_finite
    from read
)

select * from inputs
