{# The 97.5 % quantile of the normal distribution, for 95 % intervals. #}
{% macro normal_quantile() -%}
    {{- return(1.959963984540054) -}}
{%- endmacro %}
