{# The rule by which a collection stops, as `spotter collect --until` set it; nothing otherwise. #}
{% macro duckdb__declared_stopping_rules() -%}
    select
        cast(getvariable('spotter_most_rollouts') as bigint) as most_rollouts,
        cast(getvariable('spotter_error_limit') as double) as error_limit
    where getvariable('spotter_most_rollouts') is not null
{%- endmacro %}
