{# The logarithm of C(n, k), for 0 <= k <= n. #}
{% macro log_choose(n, k) -%}
    ({{ log_factorial(n) }} - {{ log_factorial(k) }} - {{ log_factorial('(' ~ n ~ ') - (' ~ k ~ ')') }})
{%- endmacro %}
