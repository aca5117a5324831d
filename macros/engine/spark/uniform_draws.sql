{% macro spark__uniform_draws(digest) -%}
    transform(
        array(1, 9, 17, 25),
        start -> cast(conv(substr({{ digest }}, start, 8), 16, 10) as bigint) / 4294967296e0
    )
{%- endmacro %}
