with

verdicts as (
    select
        runs.run_id,
        {{ spark__json_integer("lines.fields['_ng_task_index']") }} as task_index,
        {{ spark__json_integer("lines.fields['_ng_rollout_index']") }} as rollout_index,
        lines.texts['verdict'] as verdict,
        transform(
            try_variant_get(lines.variants['findings'], '$', 'array<variant>'),
            finding -> named_struct(
                'check_name', try_variant_get(finding, '$.check', 'string')
            )
        ) as checks
    from {{ spark__read_rows('verdicts') }} as lines
    inner join {{ ref('stg_runs') }} as runs on lines.file_path = runs.verdicts_file
)

select * from verdicts
