{# A number of a rollout as statistics take it: the usage's, else its own; null unless it is finite. #}
{% macro field_number(name) %}
    {{- return(adapter.dispatch('field_number')(name)) -}}
{% endmacro %}

{% macro duckdb__field_number(name) %}
    {%- set value -%}
        coalesce(
            list_filter(usage_fields, lambda entry: entry.key = '{{ name }}')[1].value,
            list_filter(own_fields, lambda entry: entry.key = '{{ name }}')[1].value
        )
    {%- endset -%}
    {{ finite(entry_number(value)) }}
{% endmacro %}
