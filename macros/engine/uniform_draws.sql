{# Four numbers from 0 up to 1, from the hexadecimal digits of an MD5. #}
{% macro uniform_draws(digest) %}
    {{- return(adapter.dispatch('uniform_draws')(digest)) -}}
{% endmacro %}

{% macro duckdb__uniform_draws(digest) %}
    list_transform(
        [1, 9, 17, 25],
        lambda start: cast('0x' || substr({{ digest }}, start, 8) as ubigint) / 4294967296
    )
{% endmacro %}
