{# A bound of the 95 % interval of a mean over tasks; sign is '-' or '+'. A share stays between 0 and 1. #}
{% macro interval_bound(value, std_error, task_count, t, is_share, sign) -%}
    {%- set z_squared = normal_quantile() ** 2 -%}
    {%- set bound = value ~ ' ' ~ sign ~ ' ' ~ t ~ ' * ' ~ std_error -%}
    case
        when {{ task_count }} < 2 then null
        when {{ std_error }} > 0 and {{ is_share }}
            {%- if sign == '-' %} then greatest(0e0, {{ bound }})
            {%- else %} then least(1e0, {{ bound }})
            {%- endif %}
        when {{ std_error }} > 0 then {{ finite(bound) }}
        {#- Wilson's interval where all tasks agree -#}
        {%- if sign == '-' %}
        when {{ is_share }} and {{ value }} = 0 then 0e0
        when {{ is_share }} and {{ value }} = 1 then {{ task_count }} / ({{ task_count }} + {{ z_squared }}e0)
        {%- else %}
        when {{ is_share }} and {{ value }} = 0 then {{ z_squared }}e0 / ({{ task_count }} + {{ z_squared }}e0)
        when {{ is_share }} and {{ value }} = 1 then 1e0
        {%- endif %}
    end
{%- endmacro %}
