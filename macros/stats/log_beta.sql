{# The logarithm of the beta function of two whole numbers, at least 1. #}
{% macro log_beta(a, b) -%}
    ({{ log_factorial('(' ~ a ~ ') - 1') }} + {{ log_factorial('(' ~ b ~ ') - 1') }}
    - {{ log_factorial('(' ~ a ~ ') + (' ~ b ~ ') - 1') }})
{%- endmacro %}
