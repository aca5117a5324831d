{# A text of at most 200 characters: a longer one is cut and ends with its MD5. #}
{% macro short_text(text) %}
    {{- return(adapter.dispatch('short_text')(text)) -}}
{% endmacro %}

{% macro duckdb__short_text(text) %}
    case
        when length({{ text }}) > 200 then substr({{ text }}, 1, 167) || '…' || md5({{ text }})
        else {{ text }}
    end
{% endmacro %}
