{% macro duckdb__uniform_draws(digest) -%}
    list_transform(
        [1, 9, 17, 25],
        lambda start: cast('0x' || substr({{ digest }}, start, 8) as ubigint) / 4294967296
    )
{%- endmacro %}
