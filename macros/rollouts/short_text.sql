{# A text of 200 characters at most: a longer one is cut, and its MD5 tells it apart. #}
{% macro short_text(text) -%}
    case
        when length({{ text }}) > 200 then substr({{ text }}, 1, 167) || '…' || md5({{ text }})
        else {{ text }}
    end
{%- endmacro %}
