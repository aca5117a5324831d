{# The members of a profile object for one metric, `"mean/reward":0.5,…`: a map of NeMo Gym's prefixes to columns.
   Absent statistics are left out. #}
{% macro stat_members(metric, columns) -%}
    concat_ws(
        ',',
        {%- for prefix, column in columns.items() %}
        {{ json_string("'" ~ prefix ~ "/' || " ~ metric) }} || ':' || {{ json_number(column) }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}

{# The statistics that NeMo Gym gives for the rollouts of a task and of an agent. #}
{% macro metric_columns() -%}
    {{- return({
        'mean': 'value_mean', 'max': 'value_max', 'min': 'value_min', 'median': 'value_median',
        'std': 'value_std'
    }) -}}
{%- endmacro %}
