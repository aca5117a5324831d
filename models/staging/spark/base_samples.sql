{%- set params = "fields['responses_create_params']" -%}
{%- set parsed_params = "variants['responses_create_params']" -%}
with

runs as (
    select * from {{ ref('stg_runs') }}
),

sample_keys as (
    select distinct * from {{ ref('base_sample_keys') }}
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
        {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index
    from {{ spark__read_rows('inputs') }} as lines
    inner join runs on lines.file_path = runs.inputs_file
),

-- lines without a key stay: they cannot be read
kept as (
    select
        lines.*,
        named_struct(
            'temperature', try_variant_get({{ parsed_params }}, '$.temperature', 'double'),
            'top_p', try_variant_get({{ parsed_params }}, '$.top_p', 'double'),
            'max_output_tokens',
            try_variant_get({{ parsed_params }}, '$.max_output_tokens', 'bigint'),
            'effort', try_variant_get({{ parsed_params }}, '$.reasoning.effort', 'string')
        ) as params
    from lines
    left join sample_keys
        on lines.run_id = sample_keys.run_id
        and lines.task_index = sample_keys.task_index
        and lines.rollout_index = sample_keys.rollout_index
    where lines.task_index is null
        or lines.rollout_index is null
        or sample_keys.run_id is not null
),

samples as (
    select
        run_id,
        task_index,
        rollout_index,
        texts['_ng_source_task'] as task_name,
        map_entries(fields) as input_fields,
        {{ spark__json_members(params) }} as param_fields,
        {{ spark__prompt(params) }} as prompt,
        {{ spark__sampling('params') }} as sampling,
        {{ spark__slice_values('fields', 'texts', 'slice_by') }} as slice_values,
        -- NaN or Infinity as a number: the first look may match inside a string, the second
        -- takes the strings out; without the possessive `++` and `*+` a long string would
        -- overflow the stack
        coalesce(
            line rlike r'(?i)[:,\[]\s*-?(nan|inf)'
            and regexp_replace(line, r'(?s)"(?:[^"\\]++|\\.)*+"', '') rlike '(?i)nan|inf',
            false
        ) as has_non_finite
    from kept
)

select * from samples
