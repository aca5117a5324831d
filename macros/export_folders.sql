{# The folders around an exported mart, from the outside in. #}
{% macro export_folders(relation) %}
    {%- set root = adapter.external_root() -%}
    {{- return([root, root ~ '/dbt', root ~ '/dbt/' ~ relation.identifier]) -}}
{% endmacro %}
