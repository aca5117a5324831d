{%- set paths = (var('curate') or {}).get('exclude') or [] -%}
{%- set params = "lines.fields['responses_create_params']" -%}
with

tasks as (
    {%- for path in paths %}
    select
        lines.file_path,
        lines.fields is not null as is_readable,
        case
            when lines.fields is not null
                then {{ content_hash('map_entries(lines.fields)', spark__json_members(params)) }}
        end as task_id,
        {{ spark__prompt(params) }} as prompt
    from {{ spark__read_file(path) }} as lines
    {{ 'union all' if not loop.last }}
    {%- else %}
    select
        cast(null as string) as file_path,
        cast(null as boolean) as is_readable,
        cast(null as string) as task_id,
        cast(null as string) as prompt
    where false
    {%- endfor %}
)

select * from tasks
