{# The sample standard deviation of a list. #}
{% macro list_std(list, mean) %}{{ return(adapter.dispatch('list_std')(list, mean)) }}{% endmacro %}

{# The sample standard deviation from the list and its mean; null for one value. Two passes, as in pandas: exact where the
   one-pass formula loses digits. The mean must be a column: a lambda would compute an expression for every element. #}
{% macro duckdb__list_std(list, mean) -%}
    sqrt(
        list_sum(list_transform({{ list }}, lambda x: (x - {{ mean }}) * (x - {{ mean }})))
        / nullif(len({{ list }}) - 1, 0)
    )
{%- endmacro %}

{# The sample standard deviation from the list and its mean; null for one value. #}
{% macro spark__list_std(list, mean) -%}
    sqrt(
        aggregate({{ list }}, 0e0, (total, x) -> total + coalesce((x - {{ mean }}) * (x - {{ mean }}), 0e0))
        / nullif(array_size({{ list }}) - 1, 0)
    )
{%- endmacro %}
