{# The sample standard deviation of a list; null for one value, and if it or the mean overflows. #}
{% macro sample_std(list, mean) -%}
    case when {{ is_finite(mean) }} then {{ finite(list_std(list, mean)) }} end
{%- endmacro %}
