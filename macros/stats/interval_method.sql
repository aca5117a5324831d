{# The method of the 95 % interval of a mean over tasks. A spread of 0 would claim certainty, so a share that is
   0 or 1 for every task takes Wilson's interval, and any other value without spread has none. #}
{% macro interval_method(value, std_error, task_count, is_share) -%}
    case
        when {{ task_count }} < 2 then null
        when {{ std_error }} > 0 then 't'
        when {{ is_share }} and {{ value }} in (0, 1) then 'wilson'
    end
{%- endmacro %}
