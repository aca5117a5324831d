{# Sample standard deviation. A group of one rollout has 0; a metric seen once in a larger group has none. #}
{% macro group_std(list, mean, group_size) -%}
    case
        when {{ group_size }} = 1 then 0.0
        else {{ finite(list_std(list, mean)) }}
    end
{%- endmacro %}
