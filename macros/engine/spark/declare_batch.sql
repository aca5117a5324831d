{# Nothing to tell: Spark reads the paths of a batch from the vars, since no path of a query can be a variable. #}
{% macro spark__declare_batch() %}
    {%- if execute and this.name == 'stg_runs' -%}{{ forget_intermediate() }}{%- endif -%}
{% endmacro %}
