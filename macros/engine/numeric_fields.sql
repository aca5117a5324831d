{% macro numeric_fields(fields) %}
    {{- return(adapter.dispatch('numeric_fields')(fields)) -}}
{% endmacro %}

{% macro duckdb__numeric_fields(fields) %}
    {#- Numbers and booleans among the fields, as (name, literal, number); booleans become 0 and 1.
        The first character tells them from strings, lists and objects; a null is null here. -#}
    coalesce(list_transform(
        list_filter(
            map_entries({{ fields }}),
            lambda field: ascii(field.value) not in (34, 91, 123)
            and field.key not in ('_ng_task_index', '_ng_rollout_index', 'response')
        ),
        lambda field: {
            'name': field.key,
            'literal': case field.value::varchar
                when 'true' then '1'
                when 'false' then '0'
                else field.value::varchar
            end,
            'number': case field.value::varchar
                when 'true' then 1.0
                when 'false' then 0.0
                else try_cast(field.value::varchar as double)
            end
        }
    ), [])
{% endmacro %}
