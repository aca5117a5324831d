{# The mean of a list. #}
{% macro list_mean(list) %}{{ return(adapter.dispatch('list_mean')(list)) }}{% endmacro %}

{% macro duckdb__list_mean(list) -%}
    list_avg({{ list }})
{%- endmacro %}

{% macro spark__list_mean(list) -%}
    aggregate(
        {{ list }},
        named_struct('total', 0e0, 'number', 0),
        (so_far, item) -> named_struct(
            'total', so_far.total + coalesce(cast(item as double), 0e0),
            'number', so_far.number + case when item is null then 0 else 1 end
        ),
        so_far -> so_far.total / nullif(so_far.number, 0)
    )
{%- endmacro %}
