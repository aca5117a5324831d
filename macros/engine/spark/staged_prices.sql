{% macro spark__staged_prices() -%}
    select inline({{ spark__price_list(var('prices') or {}) }})
{%- endmacro %}
