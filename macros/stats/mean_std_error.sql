{# The standard error of the mean of a list: exactly 0 if its values are equal up to rounding. Null for
   one value, or if it overflows. #}
{% macro mean_std_error(list, mean) -%}
    case
        when {{ list_length(list) }} < 2 or not {{ is_finite(mean) }} then null
        when {{ differ(list_min(list), list_max(list)) }}
            then {{ finite(list_std(list, mean)) }} / sqrt({{ list_length(list) }})
        else 0.0
    end
{%- endmacro %}
