{# Sample standard deviation of the first `count` values, from their sum and the sum of their squares. #}
{% macro prefix_std(total, squares, count) -%}
    case
        when {{ count }} > 1 then sqrt(greatest(
            0e0, {{ squares }} - 1e0 * {{ total }} * {{ total }} / {{ count }}
        ) / ({{ count }} - 1))
    end
{%- endmacro %}
