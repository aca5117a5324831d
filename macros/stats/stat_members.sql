{# The members of a profile object for one metric, `"mean/reward":0.5,…`; absent statistics are left out. #}
{% macro stat_members() -%}
    concat_ws(
        ',',
        {%- for stat in ['mean', 'max', 'min', 'median', 'std'] %}
        {{ json_string("'" ~ stat ~ "/' || metric") }} || ':' || {{ json_number('value_' ~ stat) }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}
