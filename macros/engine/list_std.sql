{% macro list_std(list, mean) %}
    {{- return(adapter.dispatch('list_std')(list, mean)) -}}
{% endmacro %}

{% macro duckdb__list_std(list, mean) %}
    {#- two passes: exact where the one-pass formula loses digits. Null for one value. -#}
    sqrt(
        list_sum(
            list_transform(
                {{ list }}, lambda x: (x - {{ mean }}) * (x - {{ mean }})
            )
        ) / nullif(len({{ list }}) - 1, 0)
    )
{% endmacro %}
