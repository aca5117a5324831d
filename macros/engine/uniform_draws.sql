{# Four numbers from 0 up to 1 from the digits of an MD5. #}
{% macro uniform_draws(digest) %}{{ return(adapter.dispatch('uniform_draws')(digest)) }}{% endmacro %}

{% macro duckdb__uniform_draws(digest) -%}
    list_transform(
        [1, 9, 17, 25],
        lambda start: cast('0x' || substr({{ digest }}, start, 8) as ubigint) / 4294967296
    )
{%- endmacro %}

{% macro spark__uniform_draws(digest) -%}
    transform(
        array(1, 9, 17, 25),
        start -> cast(conv(substr({{ digest }}, start, 8), 16, 10) as bigint) / 4294967296e0
    )
{%- endmacro %}
