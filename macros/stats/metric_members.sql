{# The members of a profile object, `"mean/reward":0.5,…`, as an aggregate over metrics in the order of their names: from a
   map of NeMo Gym's prefixes to columns. Absent statistics are left out; null if nothing is left. A control character, which
   no number as JSON has, stands for the metric's name, so that the name becomes JSON only once. #}
{% macro metric_members(metric, columns) -%}
    {%- set members -%}
        replace(
            nullif(concat_ws(
                ',',
                {%- for prefix, column in columns.items() %}
                '"{{ prefix }}/' || chr(1) || ':' || {{ json_value(column) }}
                {{- ',' if not loop.last }}
                {%- endfor %}
            ), ''),
            chr(1), substr({{ json_value(metric) }}, 2)
        )
    {%- endset -%}
    {{ text_in_order(members, [metric]) }}
{%- endmacro %}
