{# A path from the root, if it is relative to where dbt was started. #}
{% macro absolute(path) -%}
    case
        when starts_with({{ path }}, '/') then {{ path }}
        else {{ quoted(env_var('PWD', '')) }} || '/' || {{ path }}
    end
{%- endmacro %}
