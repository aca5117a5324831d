{# The 97.5 % quantile of the normal distribution, on which every 95 % interval rests. #}
{% macro normal_quantile() -%}
    {{- return(1.959963984540054) -}}
{%- endmacro %}
