{# The value of a metric from its JSON: a number, or a boolean as 0 or 1. #}
{% macro metric_number(json) -%}
    case cast({{ json }} as string)
        when 'true' then 1e0
        when 'false' then 0e0
        else try_cast(cast({{ json }} as string) as double)
    end
{%- endmacro %}
