{# The chance that a fair coin falls on one side this many times in so many throws. #}
{% macro coin_chance(throw_count, side_count) -%}
    exp({{ log_choose(throw_count, side_count) }} - {{ throw_count }} * ln(2e0))
{%- endmacro %}
