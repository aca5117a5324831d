{# The answer of a rollout as short JSON text; null if it has none. #}
{% macro answer_text(json) -%}
    case when {{ json }} != 'null' then {{ short_text(json) }} end
{%- endmacro %}
