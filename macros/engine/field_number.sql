{# A number of a rollout as statistics take it: the usage's, else its own; null unless it is finite. #}
{% macro field_number(name) %}
    {{- return(adapter.dispatch('field_number')(name)) -}}
{% endmacro %}

{% macro duckdb__field_number(name) %}
    {%- set number -%}
        coalesce(
            list_filter(usage_fields, lambda field: field.name = '{{ name }}')[1],
            list_filter(own_fields, lambda field: field.name = '{{ name }}')[1]
        ).number
    {%- endset -%}
    case when isfinite({{ number }}) then {{ number }} end
{% endmacro %}
