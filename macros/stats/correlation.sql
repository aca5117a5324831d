{# Pearson's correlation from sums of deviations; null if a side does not vary, or if it overflows. #}
{% macro correlation(products, first_squares, second_squares) -%}
    {%- set ratio -%}
        {{ products }} / sqrt({{ first_squares }}) / sqrt({{ second_squares }})
    {%- endset -%}
    case
        when {{ first_squares }} > 0 and {{ second_squares }} > 0 and {{ is_finite(ratio) }}
            then greatest(-1e0, least(1e0, {{ ratio }}))
    end
{%- endmacro %}
