-- The batch: the files that the path or pattern of the vars matches. Spark does not list empty
-- files, so a run counts also if only its inputs are there: its rollouts are then all missing.
{%- set inputs = spark__text_literal(spark__full_path(var('inputs'))) if var('inputs') else 'null' -%}
{%- set run_id = spark__text_literal(var('run_id')) if var('run_id') else 'null' -%}
{%- set tags = {} -%}
{%- for name, value in (var('tags') or {}).items() -%}{%- do tags.update({name: value | string}) -%}{%- endfor %}
{%- set fields = [var('slice_by')] if var('slice_by') is string else var('slice_by') or [] %}
{%- if 'all' in fields or '' in fields -%}
    {{ exceptions.raise_compiler_error('slice_by: name fields of the inputs or rollouts') }}
{%- endif %}
with

listed as (
    select {{ spark__file_path() }} as file
    from binaryFile.{{ spark__glob_literal(spark__batch_pattern([] if var('inputs') else ['inputs'])) }}
        with (recursiveFileLookup = 'true')
    where _metadata.file_path rlike r'\.jsonl$'
        and not _metadata.file_path rlike r'(_(failures|reward_profiling|attempts)|/rollout_verdicts)\.jsonl$'
),

files as (
    select
        stem || '.jsonl' as rollouts_path,
        stem,
        regexp_extract(stem, '^.*/', 0) as folder,
        -- the verdicts of NeMo Gym's health check do not name their run
        count(*) over (partition by regexp_extract(stem, '^.*/', 0)) as run_count,
        count(*) over () as file_count,
        coalesce({{ inputs }}, stem || '_materialized_inputs.jsonl') as inputs_path,
        {{ inputs }} is not null or array_contains(found, stem || '_materialized_inputs.jsonl') as has_inputs
    from (
        select
            regexp_replace(file, r'(_materialized_inputs)?\.jsonl$', '') as stem,
            collect_list(file) as found
        from listed
        group by regexp_replace(file, r'(_materialized_inputs)?\.jsonl$', '')
    ) as stems
),

{{ spark__run_names('files') }},

runs as (
    select
        case
            when {{ run_id }} is not null and files.file_count > 1
                then {{ spark__fail("'run_id names one run, but several rollouts files match'") }}
            when not files.has_inputs then {{ spark__fail("'No materialized inputs at ' || files.inputs_path") }}
            else coalesce({{ run_id }}, names.name)
        end as run_id,
        files.rollouts_path,
        files.inputs_path,
        files.stem || '_failures.jsonl' as failures_path,
        files.rollouts_path as rollouts_file,
        files.inputs_path as inputs_file,
        files.stem || '_failures.jsonl' as failures_file,
        cast(0 as bigint) as torn_rollouts_count,
        cast(0 as bigint) as torn_failures_count,
        {{ (var('allow_partial_rollouts') | string | lower) == 'true' }} as is_partial_allowed,
        {{ spark__text_list(var('count_failure_classes_as_zero')) }} as zero_classes,
        cast(null as string) as prices_path,
        cast(null as string) as stopping_rule,
        cast(null as string) as origin_rollouts_path,
        -- what only the collector's record tells
        cast(array() as array<string>) as recorded_models,
        cast(array() as array<string>) as recorded_environments,
        cast(null as timestamp_ntz) as started_at,
        cast(null as timestamp_ntz) as ended_at,
        cast(null as string) as made_with,
        cast(null as string) as endpoint_host,
        cast(null as string) as task_file,
        cast(null as string) as task_file_hash,
        {{ spark__merged_tags('names.tags', tags) }} as tags,
        {{ (var('count_missing_rollouts_as_zero') | string | lower) == 'true' }} as is_missing_zero,
        case when files.run_count = 1 then files.folder || 'rollout_verdicts.jsonl' else '' end as verdicts_file,
        cast({{ var('pass_threshold') | float }} as double) as pass_threshold,
        {{ spark__text_literal(var('answer_field')) }} as answer_field,
        {{ spark__text_list(fields) }} as slice_by,
        '{{ batch_hash() }}' as batch_hash
    from files
    inner join names using (rollouts_path)
)

select * from runs
