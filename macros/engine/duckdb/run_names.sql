{# The name and the tags of each file's run: those that it has in the warehouse, else the name of its folder and its own. If
   another file has the same name, more folders are part of it, and at last a hash. #}
{% macro duckdb__run_names(files) -%}
    {%- set runs = load_relation(api.Relation.create(database=target.database, schema=target.schema, identifier='runs')) -%}
    {%- set has_tags = runs and 'tags' in (adapter.get_columns_in_relation(runs) | map(attribute='name')) -%}
    known as (
        {%- if runs %}
        select
            rollouts_path,
            arg_max(run_id, profiled_at) as run_id,
            {{ 'arg_max(tags, profiled_at)' if has_tags else 'null::varchar' }} as tags
        from {{ runs }}
        group by rollouts_path
        {%- else %}
        select null::varchar as rollouts_path, null::varchar as run_id, null::varchar as tags where false
        {%- endif %}
    ),

    parts as (
        select
            rollouts_path,
            list_filter(string_split(rollouts_path[:-7], '/'), lambda part: part != '') as parts
        from {{ files }}
    ),

    candidates as (
        select
            rollouts_path,
            depth,
            array_to_string(parts[-depth:], '-') as name
        from (select *, unnest(range(least(2, len(parts)), len(parts) + 1)) as depth from parts)
    ),

    free as (
        select
            rollouts_path,
            arg_min(name, depth) as name
        from candidates
        where name not in (select run_id from known)
            and name in (select name from candidates group by name having count(*) = 1)
        group by rollouts_path
    ),

    names as (
        select
            parts.rollouts_path,
            coalesce(
                known.run_id, free.name, parts.parts[-1] || '-' || md5(parts.rollouts_path)[:8]
            ) as name,
            known.tags
        from parts
        left join free using (rollouts_path)
        left join known using (rollouts_path)
    )
{%- endmacro %}
