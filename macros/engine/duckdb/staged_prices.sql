{% macro duckdb__staged_prices() -%}
    select unnest(getvariable('spotter_prices'), recursive := true)
{%- endmacro %}
