{# The fields of a rollout that can be metrics: neither private ones, whose names begin with `_`, nor the mask. #}
{% macro own_entries(entries) %}
    {{- return(adapter.dispatch('own_entries')(entries)) -}}
{% endmacro %}

{% macro duckdb__own_entries(entries) %}
    list_filter(
        {{ entries }},
        lambda field: not starts_with(field.key, '_') and field.key != 'mask_sample'
    )
{% endmacro %}
