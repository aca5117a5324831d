{# The metrics of a rollout as a list of (metric, value): the numbers of its usage, and its own. A field of the usage hides
   the rollout's field of the same name, whatever its type. #}
{% macro metric_entries(own_fields, usage_fields, usage_keys) %}
    {{- return(adapter.dispatch('metric_entries')(own_fields, usage_fields, usage_keys)) -}}
{% endmacro %}

{% macro duckdb__metric_entries(own_fields, usage_fields, usage_keys) %}
    list_transform(
        list_concat(
            list_filter({{ usage_fields }}, lambda entry: ascii(entry.key) != 95),
            list_filter(
                {{ own_fields }},
                lambda entry: not coalesce(list_contains({{ usage_keys }}, entry.key), false)
            )
        ),
        lambda entry: {'metric': entry.key, 'value': {{ entry_number('entry.value') }}}
    )
{% endmacro %}
