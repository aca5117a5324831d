{# The value of one of a rollout's metrics; null if there is none that is finite. #}
{% macro metric_value(metrics, name) -%}
    {{ list_first(list_where(
        metrics, 'entry', "entry.metric = '" ~ name ~ "' and " ~ is_finite('entry.value')
    )) }}.value
{%- endmacro %}
