{# The absolute path of a path that may be relative to the folder in which dbt was started. #}
{% macro absolute(path) -%}
    case
        when starts_with({{ path }}, '/') then {{ path }}
        else {{ quoted(env_var('PWD', '')) }} || '/' || {{ path }}
    end
{%- endmacro %}
