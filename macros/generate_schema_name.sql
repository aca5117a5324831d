{# A folder's schema is its name; marts live in the target's own schema, so that `select * from runs` works. #}
{% macro generate_schema_name(custom_schema_name, node) %}
    {{- custom_schema_name or target.schema -}}
{% endmacro %}
