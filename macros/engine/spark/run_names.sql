{# The name and the tags of each file's run: those that it has in the warehouse, else the name of its folder and its own. If
   another file has the same name, more folders are part of it, and at last a hash. #}
{% macro spark__run_names(files) -%}
    {%- set runs = load_relation(api.Relation.create(schema=target.schema, identifier='runs')) -%}
    known as (
        {%- if runs %}
        select
            rollouts_path,
            max_by(run_id, profiled_at) as run_id,
            max_by(tags, profiled_at) as tags
        from {{ runs }}
        group by rollouts_path
        {%- else %}
        select
            cast(null as string) as rollouts_path,
            cast(null as string) as run_id,
            cast(null as string) as tags
        where false
        {%- endif %}
    ),

    parts as (
        select
            rollouts_path,
            filter(split(regexp_replace(rollouts_path, r'\.jsonl$', ''), '/'), part -> part != '') as parts
        from {{ files }}
    ),

    candidates as (
        select
            rollouts_path,
            depth,
            array_join(slice(parts, -depth, depth), '-') as name
        from (
            select
                *,
                explode(sequence(least(2, array_size(parts)), array_size(parts))) as depth
            from parts
        ) as deep
    ),

    free as (
        select
            rollouts_path,
            min_by(name, depth) as name
        from candidates
        where name not in (select known.run_id from known)
            and name in (select one.name from candidates as one group by one.name having count(*) = 1)
        group by rollouts_path
    ),

    names as (
        select
            parts.rollouts_path,
            coalesce(
                known.run_id, free.name,
                element_at(parts.parts, -1) || '-' || left(md5(parts.rollouts_path), 8)
            ) as name,
            known.tags
        from parts
        left join free using (rollouts_path)
        left join known using (rollouts_path)
    )
{%- endmacro %}
