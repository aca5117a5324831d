{% macro is_power_of_two(number) %}
    {{- return(adapter.dispatch('is_power_of_two')(number)) -}}
{% endmacro %}

{% macro duckdb__is_power_of_two(number) %}
    bit_count({{ number }}) = 1
{% endmacro %}
