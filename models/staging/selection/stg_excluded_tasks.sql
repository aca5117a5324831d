with

tasks as (
    select
        file_path,
        is_readable,
        task_id,
        nullif({{ one_spaced('lower(prompt)') }}, '') as prompt
    from {{ ref('base_excluded_tasks') }}
)

select * from tasks
