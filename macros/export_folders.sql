{# The folders that an exported mart lies in, the outermost first. #}
{% macro export_folders(relation) %}
    {%- set root = adapter.external_root() -%}
    {{- return([root, root ~ '/dbt', root ~ '/dbt/' ~ relation.identifier]) -}}
{% endmacro %}
