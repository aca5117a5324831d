{# Write every mart that was built as Parquet: <folder>/<mart>/part-0.parquet.
   dbt run-operation export_marts --args '{folder: exports/dbt}' #}
{% macro export_marts(folder='exports/dbt') %}
    {%- for node in graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') | sort(attribute='name') -%}
        {%- if node.fqn[1] == 'marts' -%}
            {%- set relation = api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias) -%}
            {%- if load_relation(relation) -%}
                {%- do run_query(export_mart(relation, node.columns, folder ~ '/' ~ node.name)) -%}
                {{ log(node.name, info=true) }}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}
