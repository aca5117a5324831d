{# Without nulls; 0 if nothing is left. #}
{% macro spark__list_sum(list) -%}
    coalesce(aggregate({{ list }}, 0e0, (total, item) -> total + coalesce(cast(item as double), 0e0)), 0e0)
{%- endmacro %}
