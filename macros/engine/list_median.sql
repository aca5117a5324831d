{% macro list_median(list) %}
    {{- return(adapter.dispatch('list_median')(list)) -}}
{% endmacro %}

{% macro duckdb__list_median(list) %}
    {#- not DuckDB's median, which interpolates and turns the smallest doubles into 0 -#}
    {%- set low = 'list_sort(' ~ list ~ ')[(len(' ~ list ~ ') + 1) // 2]' -%}
    {%- set high = 'list_sort(' ~ list ~ ')[len(' ~ list ~ ') // 2 + 1]' -%}
    case
        when {{ low }} = {{ high }} then {{ low }}
        else ({{ low }} + {{ high }}) / 2
    end
{% endmacro %}
