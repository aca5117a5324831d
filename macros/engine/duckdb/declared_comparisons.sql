{# The pairs of runs to compare, as `declare_comparisons` found them. #}
{% macro duckdb__declared_comparisons() -%}
    select unnest(getvariable('spotter_comparisons'), recursive := true)
{%- endmacro %}
