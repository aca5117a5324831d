{# The numbers and booleans among the fields of a rollout: neither private ones, whose names begin with `_`, nor the mask.
   The first character tells them from strings, lists and objects. #}
{% macro duckdb__own_numbers(fields) -%}
    coalesce(list_filter(
        {{ fields }},
        lambda field: ascii(field.value) not in (34, 91, 123)
        and field.value::varchar != 'null'
        and ascii(field.key) != 95
        and field.key not in ('mask_sample', 'response')
    ), [])
{%- endmacro %}

{# The same of its usage. Private ones stay: the compact record has them. #}
{% macro duckdb__usage_numbers(fields) -%}
    coalesce(list_filter(
        {{ fields }},
        lambda field: ascii(field.value) not in (34, 91, 123)
        and field.value::varchar != 'null'
        and field.key not in ('_ng_task_index', '_ng_rollout_index', 'response')
    ), [])
{%- endmacro %}

{# One metric of a rollout; null if there is none that is finite. #}
{% macro duckdb__metric(metrics, name) -%}
    list_filter(
        {{ metrics }},
        lambda entry: entry.metric = '{{ name }}' and isfinite(entry.value)
    )[1].value
{%- endmacro %}

{# The values of the fields to slice by, as a list of (slice_by, slice_value). Without names the lambda is not called:
   it would still copy the fields. #}
{% macro duckdb__slice_values(fields, names) -%}
    case
        when len({{ names }}) > 0
            then list_transform(
                {{ names }},
                lambda name: {
                    'slice_by': name,
                    'slice_value': {{ slice_value(fields ~ '[name]::varchar', "json_extract_string(" ~ fields ~ "[name], '$')") }}
                }
            )
        else []
    end
{%- endmacro %}
