{# An error that ends the query. #}
{% macro fail(message) %}{{ return(adapter.dispatch('fail')(message)) }}{% endmacro %}

{% macro duckdb__fail(message) -%}
    error({{ message }})
{%- endmacro %}

{% macro spark__fail(message) -%}
    cast(raise_error({{ message }}) as string)
{%- endmacro %}
