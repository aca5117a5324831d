{# The figures that most charts use, as columns: all statistics of the reward, the means of the tokens. #}
{% macro wide_metrics() -%}
    {%- for stat in ['mean', 'max', 'min', 'median', 'std'] -%}
    max(case when metric = 'reward' then value_{{ stat }} end) as reward_{{ stat }},
    {% endfor -%}
    {%- for tokens in ['input_tokens', 'output_tokens', 'total_tokens'] -%}
    max(case when metric = '{{ tokens }}' then value_mean end) as {{ tokens }}_mean
    {{- ',' if not loop.last }}
    {% endfor %}
{%- endmacro %}
