{# The method of the 95 % interval of a mean over tasks. A mean that is not a share has none without spread: a spread of 0
   would claim certainty. #}
{% macro interval_method(std_error, task_count, is_share) -%}
    case
        when {{ task_count }} < 2 then null
        when {{ is_share }} then 'wilson'
        when {{ std_error }} > 0 then 't'
    end
{%- endmacro %}
