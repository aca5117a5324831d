{# The time of the query in UTC, without a zone. #}
{% macro utc_now() %}{{ return(adapter.dispatch('utc_now')()) }}{% endmacro %}

{% macro duckdb__utc_now() -%}
    now() at time zone 'UTC'
{%- endmacro %}

{% macro spark__utc_now() -%}
    cast(current_timestamp() as timestamp_ntz)
{%- endmacro %}
