{# A figure in percent, as NeMo Gym writes it; null if a given condition does not hold. #}
{% macro gym_percent(share, condition=none) -%}
    {%- set percent = '100 * (' ~ share ~ ')' -%}
    {%- if condition -%}
    case when {{ condition }} then {{ finite(percent) }} end
    {%- else -%}
    {{ finite(percent) }}
    {%- endif -%}
{%- endmacro %}
