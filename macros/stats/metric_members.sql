{# The members of a profile object for one metric, `"mean/reward":0.5,…`, from a map of NeMo Gym's prefixes to columns.
   Absent statistics are left out. #}
{% macro metric_members(metric, columns) -%}
    concat_ws(
        ',',
        {%- for prefix, column in columns.items() %}
        {{ json_value("'" ~ prefix ~ "/' || " ~ metric) }} || ':' || {{ json_value(column) }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}
