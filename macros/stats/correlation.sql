{# Pearson's correlation from sums of deviations; null if a side does not vary. #}
{% macro correlation(products, first_squares, second_squares) -%}
    case
        when {{ first_squares }} > 0 and {{ second_squares }} > 0 then {{ finite(
            'greatest(-1.0, least(1.0, ' ~ products ~ ' / sqrt(' ~ first_squares ~ ') / sqrt('
            ~ second_squares ~ ')))'
        ) }}
    end
{%- endmacro %}
