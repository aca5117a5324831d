{# A bound of the 95 % interval of a mean over tasks; sign is '-' or '+'. For a share it is Wilson's score interval with
   Student's quantile, at the number of trials that would have this standard error: the t interval covers too little near
   0 and 1. Any other mean takes the t interval. #}
{% macro interval_bound(value, std_error, task_count, rollout_count, t, is_share, sign) -%}
    {%- set trials = effective_trials(value, std_error, task_count, rollout_count) -%}
    case
        when {{ task_count }} < 2 then null
        {%- if sign == '-' %}
        when {{ is_share }} and {{ value }} <= 0 then 0e0
        {%- else %}
        when {{ is_share }} and {{ value }} >= 1 then 1e0
        {%- endif %}
        when {{ is_share }} then {{ wilson_limit(value, trials, t, sign) }}
        when {{ std_error }} > 0 then {{ finite(value ~ ' ' ~ sign ~ ' ' ~ t ~ ' * ' ~ std_error) }}
    end
{%- endmacro %}

{# The number of independent trials that would have this standard error: from 1 to the number of rollouts. Without any
   spread, the number of tasks: a spread of 0 would claim certainty. #}
{% macro effective_trials(value, std_error, task_count, rollout_count) -%}
    case
        when {{ std_error }} > 0 then greatest(
            1e0, least({{ rollout_count }}, {{ value }} * (1 - {{ value }}) / ({{ std_error }} * {{ std_error }}))
        )
        else cast({{ task_count }} as double)
    end
{%- endmacro %}
