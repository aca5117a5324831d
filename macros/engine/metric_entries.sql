{# The metrics of a rollout as a list of (key, value): the numbers of its usage, and its own. A field of the usage hides
   the rollout's field of the same name, whatever its type. #}
{% macro metric_entries(own_fields, usage_fields, usage) %}
    {{- return(adapter.dispatch('metric_entries')(own_fields, usage_fields, usage)) -}}
{% endmacro %}

{% macro duckdb__metric_entries(own_fields, usage_fields, usage) %}
    list_transform(
        list_concat(
            list_filter({{ usage_fields }}, lambda entry: not starts_with(entry.key, '_')),
            list_filter(
                {{ own_fields }},
                lambda entry: not coalesce(
                    list_contains(json_keys({{ usage }}), entry.key), false
                )
            )
        ),
        lambda entry: {'metric': entry.key, 'value': {{ entry_number('entry.value') }}}
    )
{% endmacro %}
