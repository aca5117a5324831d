{# The numbers and booleans among the fields of a rollout: neither private ones, whose names begin with `_`, nor the mask.
   The first character tells them from strings, lists and objects. #}
{% macro spark__own_numbers(fields) -%}
    coalesce(filter(
        {{ fields }},
        field -> ascii(field.value) not in (34, 91, 123)
        and ascii(field.key) != 95
        and field.key not in ('mask_sample', 'response')
    ), array())
{%- endmacro %}

{# The same of its usage. Private ones stay: the compact record has them. #}
{% macro spark__usage_numbers(fields) -%}
    coalesce(filter(
        {{ fields }},
        field -> ascii(field.value) not in (34, 91, 123)
        and field.key not in ('_ng_task_index', '_ng_rollout_index', 'response')
    ), array())
{%- endmacro %}

{# One metric of a rollout; null if there is none that is finite. #}
{% macro spark__metric(metrics, name) -%}
    get(filter(
        {{ metrics }},
        entry -> entry.metric = '{{ name }}' and {{ is_finite('entry.value') }}
    ), 0).value
{%- endmacro %}

{# The values of the fields to slice by, as a list of (slice_by, slice_value). #}
{% macro spark__slice_values(fields, texts, names) -%}
    transform(
        {{ names }},
        name -> named_struct(
            'slice_by', name,
            'slice_value', {{ slice_value(fields ~ '[name]', texts ~ '[name]') }}
        )
    )
{%- endmacro %}
