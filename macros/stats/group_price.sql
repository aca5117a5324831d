{# The tokens spent for each informative group of some size; null if there is none to expect. #}
{% macro group_price(size, tokens, ratio) -%}
    {{ finite(size ~ ' * ' ~ tokens ~ ' / nullif(' ~ ratio ~ ', 0)') }}
{%- endmacro %}
