{# The statistics of one metric in one group of rollouts, from its values in a fixed order. #}
{% macro metric_statistics(values, mean, group_size) -%}
    {{ list_length(values) }} as value_count,
    {{ finite(mean) }} as value_mean,
    {{ list_max(values) }} as value_max,
    {{ list_min(values) }} as value_min,
    {{ finite(list_median(values)) }} as value_median,
    {{ group_std(values, mean, group_size) }} as value_std
{%- endmacro %}
