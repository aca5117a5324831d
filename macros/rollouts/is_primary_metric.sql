{# Whether NeMo Gym compares the means of a metric across repeats: not if its name says that it is a statistic. #}
{% macro is_primary_metric(metric) -%}
    {%- set statistic = (
        '(/(max|min|median|p5|p25|p75|p95|ci_low_95|ci_high_95|ci_lower|ci_upper'
        ~ '|std_dev_across_runs|std_err_across_runs|avg_sample_std_dev|_ng_attempt_index)'
        ~ '|_ci_lower|_ci_upper|_ci95_lower|_ci95_upper)$|_across_repeats/'
    ) -%}
    not {{ matches("'mean/' || " ~ metric, statistic) }}
{%- endmacro %}
