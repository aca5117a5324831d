{# The value of one metric of a rollout. Null if the metric is absent or not finite. #}
{% macro metric_value(metrics, name) %}
    {{- return(adapter.dispatch('metric_value')(metrics, name)) -}}
{% endmacro %}

{% macro duckdb__metric_value(metrics, name) %}
    list_filter(
        {{ metrics }},
        lambda entry: entry.metric = '{{ name }}' and isfinite(entry.value)
    )[1].value
{% endmacro %}
