{# One metric of a rollout; null if it has none, or none that is finite. #}
{% macro metric_value(metrics, name) %}
    {{- return(adapter.dispatch('metric_value')(metrics, name)) -}}
{% endmacro %}

{% macro duckdb__metric_value(metrics, name) %}
    list_filter(
        {{ metrics }},
        lambda entry: entry.metric = '{{ name }}' and isfinite(entry.value)
    )[1].value
{% endmacro %}
