{# Spark has no function for it. Small factorials are exact; the rest is Stirling's series, which needs a large argument:
   a fraction is moved up by ten first. #}
{% macro spark__log_factorial(n) -%}
    {%- set next = '(' ~ n ~ ' + 1e0)' -%}
    {%- set steps = [] -%}
    {%- for step in range(10) -%}{%- do steps.append('(' ~ n ~ ' + ' ~ (step + 1) ~ 'e0)') -%}{%- endfor -%}
    case
        when {{ n }} != floor({{ n }}) then {{ spark__stirling('(' ~ n ~ ' + 11e0)') }} - ln({{ steps | join(' * ') }})
        when {{ n }} <= 20 then ln(cast(factorial(cast({{ n }} as integer)) as double))
        else {{ spark__stirling(next) }}
    end
{%- endmacro %}

{# The logarithm of the gamma function. #}
{% macro spark__stirling(x) -%}
    (({{ x }} - 0.5e0) * ln({{ x }}) - {{ x }} + 0.9189385332046727e0
    + 1e0 / (12e0 * {{ x }}) - 1e0 / (360e0 * power({{ x }}, 3)) + 1e0 / (1260e0 * power({{ x }}, 5))
    - 1e0 / (1680e0 * power({{ x }}, 7)) + 1e0 / (1188e0 * power({{ x }}, 9)))
{%- endmacro %}
