-- depends_on: {{ ref('int_rollouts_keyed') }}
-- so that dbt builds it after the batch is staged, which drops the intermediate models
with

tasks as (
    {{ excluded_tasks() }}
),

excluded as (
    select
        file_path,
        is_readable,
        task_id,
        {{ one_spaced('lower(prompt)') }} as prompt
    from tasks
)

select * from excluded
