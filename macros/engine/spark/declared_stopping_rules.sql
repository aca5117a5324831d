{# A collection reads its rule with DuckDB: there is none here. #}
{% macro spark__declared_stopping_rules() -%}
    select
        cast(null as bigint) as most_rollouts,
        cast(null as double) as error_limit
    where false
{%- endmacro %}
