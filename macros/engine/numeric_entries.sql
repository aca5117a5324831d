{# The numbers and booleans among the fields of a rollout or of its usage. The rollout's own fields leave out those that
   cannot be metrics: the mask, and private fields, whose names begin with `_`. #}
{% macro numeric_entries(entries, is_own=false) %}
    {{- return(adapter.dispatch('numeric_entries')(entries, is_own)) -}}
{% endmacro %}

{% macro duckdb__numeric_entries(entries, is_own) %}
    {#- the first character tells numbers and booleans from strings, lists and objects -#}
    coalesce(list_filter(
        {{ entries }},
        lambda entry: ascii(entry.value) not in (34, 91, 123)
        and entry.value::varchar != 'null'
        {%- if is_own %}
        and ascii(entry.key) != 95
        and entry.key not in ('mask_sample', 'response')
        {%- else %}
        and entry.key not in ('_ng_task_index', '_ng_rollout_index', 'response')
        {%- endif %}
    ), [])
{% endmacro %}
