{# The expected share of groups of `size` rollouts that contain both a pass and a failure. Up to the task's number of
   rollouts it is counted from them. For larger groups it uses the posterior of the pass rate with a uniform prior. #}
{% macro informative_ratio(rollouts, passes, size) -%}
    {%- set failures = '(' ~ rollouts ~ ' - ' ~ passes ~ ')' -%}
    case
        when {{ rollouts }} = 0 then null
        when {{ rollouts }} >= {{ size }} then 1e0
            - {{ subset_share(passes, rollouts, size) }}
            - {{ subset_share(failures, rollouts, size) }}
        else 1e0
            - {{ all_alike(passes, rollouts, size) }}
            - {{ all_alike(failures, rollouts, size) }}
    end
{%- endmacro %}

{# B(same + 1 + size, rollouts - same + 1) / B(same + 1, rollouts - same + 1) #}
{% macro all_alike(same, rollouts, size) -%}
    exp(
        {{ log_factorial(same ~ ' + ' ~ size) }} - {{ log_factorial(same) }}
        - {{ log_factorial(rollouts ~ ' + 1 + ' ~ size) }} + {{ log_factorial(rollouts ~ ' + 1') }}
    )
{%- endmacro %}
