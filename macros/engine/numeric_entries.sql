{# The numbers and booleans among the fields of a rollout or of its usage. #}
{% macro numeric_entries(entries) %}
    {{- return(adapter.dispatch('numeric_entries')(entries)) -}}
{% endmacro %}

{% macro duckdb__numeric_entries(entries) %}
    {#- the first character tells numbers and booleans from strings, lists and objects -#}
    coalesce(list_filter(
        {{ entries }},
        lambda entry: ascii(entry.value) not in (34, 91, 123)
        and entry.value::varchar != 'null'
        and entry.key not in ('_ng_task_index', '_ng_rollout_index', 'response')
    ), [])
{% endmacro %}
