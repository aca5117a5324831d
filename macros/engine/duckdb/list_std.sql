{# The sample standard deviation from the list and its mean; null for one value. Two passes, as in pandas: exact where the
   one-pass formula loses digits. The mean must be a column: a lambda would compute an expression for every element. #}
{% macro duckdb__list_std(list, mean) -%}
    sqrt(
        list_sum(list_transform({{ list }}, lambda x: (x - {{ mean }}) * (x - {{ mean }})))
        / nullif(len({{ list }}) - 1, 0)
    )
{%- endmacro %}
