{# The sample standard deviation from the list and its mean; null for one value. #}
{% macro spark__list_std(list, mean) -%}
    sqrt(
        aggregate({{ list }}, 0e0, (total, x) -> total + coalesce((x - {{ mean }}) * (x - {{ mean }}), 0e0))
        / nullif(array_size({{ list }}) - 1, 0)
    )
{%- endmacro %}
