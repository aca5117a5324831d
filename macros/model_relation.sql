{# Where a model of the graph is built. #}
{% macro model_relation(node) %}
    {{- return(api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias)) -}}
{% endmacro %}
