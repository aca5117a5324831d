with

samples as (
    select
        run_id,
        task_index,
        rollout_index,
        task_name,
        {{ content_hash('input_fields', 'param_fields') }} as task_id,
        prompt,
        -- the input row in its own order, without its two indices
        '{' || {{ list_join(
            list_map(
                list_where(
                    'input_fields', 'field',
                    "field.key not in ('_ng_task_index', '_ng_rollout_index')"
                ),
                'field',
                json_value('field.key') ~ " || ':' || coalesce(field.value, 'null')"
            ),
            "','"
        ) }} || '}' as sample,
        sampling,
        slice_values,
        task_index is not null
        and rollout_index is not null
        and not has_non_finite as is_readable
    from {{ ref('base_samples') }}
)

select * from samples
