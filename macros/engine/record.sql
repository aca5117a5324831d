{# Several columns as one struct, whose fields have the names of the columns. #}
{% macro record(columns) %}
    {{- return(adapter.dispatch('record')(columns)) -}}
{% endmacro %}

{% macro duckdb__record(columns) %}
    struct_pack(
        {%- for column in columns %}{{ column }} := {{ column }}{{ ', ' if not loop.last }}{% endfor -%}
    )
{% endmacro %}
