{# The metrics of a rollout as a list of (metric, value). A field of the usage hides the rollout's field of the same name,
   whatever its type. Names that begin with `_` are private. #}
{% macro rollout_metrics(own_fields, usage_fields, usage_keys) -%}
    {%- set number -%}
        case field.value::varchar when 'true' then 1e0 when 'false' then 0e0 else try_cast(field.value::varchar as double) end
    {%- endset -%}
    {{ list_map(
        list_where(usage_fields, 'field', 'ascii(field.key) != 95')
        ~ ' || ' ~ list_where(
            own_fields, 'field', 'not coalesce(array_contains(' ~ usage_keys ~ ', field.key), false)'
        ),
        'field', "{'metric': field.key, 'value': " ~ number ~ '}'
    ) }}
{%- endmacro %}
