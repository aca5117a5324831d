{# The standard error of the mean of a list: exactly 0 if its values are all equal, but for rounding; null for one value,
   and if it overflows. #}
{% macro mean_std_error(list, mean, smallest, largest) -%}
    case
        when {{ list_length(list) }} < 2 or not {{ is_finite(mean) }} then null
        when {{ differ(smallest, largest) }}
            then {{ finite(list_std(list, mean)) }} / sqrt({{ list_length(list) }})
        else 0e0
    end
{%- endmacro %}
