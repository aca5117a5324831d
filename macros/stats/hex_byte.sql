{# The number from 0 to 255 that two hexadecimal digits of a text say, from a place on. #}
{% macro hex_byte(text, place) -%}
    16 * (instr('0123456789abcdef', substr({{ text }}, {{ place }}, 1)) - 1)
    + instr('0123456789abcdef', substr({{ text }}, {{ place + 1 }}, 1)) - 1
{%- endmacro %}
