{# The expected output tokens spent per informative group of `size` rollouts. Null if no group is expected. #}
{% macro group_price(size, tokens, ratio) -%}
    {{ finite(size ~ ' * ' ~ tokens ~ ' / nullif(' ~ ratio ~ ', 0)') }}
{%- endmacro %}
