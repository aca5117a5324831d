{# The metrics of a rollout as a list of (metric, value). A field of the usage hides the rollout's field of the same name,
   whatever its type. Names that begin with `_` are private. #}
{% macro rollout_metrics(own_fields, usage_fields, usage_keys) -%}
    {{ list_map(
        list_where(usage_fields, 'field', 'ascii(field.key) != 95')
        ~ ' || ' ~ list_where(
            own_fields, 'field', 'not coalesce(array_contains(' ~ usage_keys ~ ', field.key), false)'
        ),
        'field', record({'metric': 'field.key', 'value': metric_number('field.value')})
    ) }}
{%- endmacro %}
