{# The members of a profile object, `"mean/reward":0.5,…`, as an aggregate over metrics in the order of their names: from a
   map of NeMo Gym's prefixes to columns. Absent statistics are left out; null if nothing is left. #}
{% macro metric_members(metric, columns) -%}
    {%- set members -%}
        nullif(concat_ws(
            ',',
            {%- for prefix, column in columns.items() %}
            {{ json_value("'" ~ prefix ~ "/' || " ~ metric) }} || ':' || {{ json_value(column) }}
            {{- ',' if not loop.last }}
            {%- endfor %}
        ), '')
    {%- endset -%}
    {{ text_in_order(members, [metric]) }}
{%- endmacro %}
