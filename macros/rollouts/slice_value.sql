{# The value of a field to slice by, short enough for a table; null for a list, an object or null. #}
{% macro slice_value(json, text) -%}
    case
        when ascii({{ json }}) not in (91, 123) and {{ json }} != 'null' then {{ short_text(text) }}
    end
{%- endmacro %}
