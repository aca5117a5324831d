{# The logarithm of n!. #}
{% macro log_factorial(n) %}{{ return(adapter.dispatch('log_factorial')(n)) }}{% endmacro %}

{% macro duckdb__log_factorial(n) -%}
    lgamma({{ n }} + 1)
{%- endmacro %}

{# Spark has no function for it: Stirling's series of ten more, less the ten factors that are then too many. The lambda
   names n: an expression that is repeated makes a long plan, which takes Spark seconds. #}
{% macro spark__log_factorial(n) -%}
    {%- set factors = [] -%}
    {%- for step in range(1, 11) -%}{%- do factors.append('(n + ' ~ step ~ 'e0)') -%}{%- endfor -%}
    get(transform(
        array(cast({{ n }} as double)),
        n -> (n + 10.5e0) * ln(n + 11e0) - (n + 11e0) + 0.9189385332046727e0
        + 1e0 / (12e0 * (n + 11e0)) - 1e0 / (360e0 * power(n + 11e0, 3)) + 1e0 / (1260e0 * power(n + 11e0, 5))
        - 1e0 / (1680e0 * power(n + 11e0, 7)) + 1e0 / (1188e0 * power(n + 11e0, 9))
        - ln({{ factors | join(' * ') }})
    ), 0)
{%- endmacro %}
