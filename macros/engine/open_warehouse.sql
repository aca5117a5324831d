{# Hook: open the warehouse before anything is built. #}
{% macro open_warehouse() %}{{ return(adapter.dispatch('open_warehouse')()) }}{% endmacro %}

{# Nothing to do: the warehouse is a file that knows its tables. #}
{% macro duckdb__open_warehouse() %}{% endmacro %}

{# A catalogue in memory knows nothing of the marts in the warehouse's folder: tell it. They are tables of their own folder,
   not external ones, so that dropping a partition removes its files. Other catalogues know their tables. #}
{% macro spark__open_warehouse() %}
    {%- set folder = spark__warehouse_folder() -%}
    {%- if execute and folder -%}
        {%- do run_query('create schema if not exists ' ~ target.schema) -%}
        {%- set filled = spark__filled_folders(folder) -%}
        {%- for node in graph.nodes.values() if spark__is_partitioned(node) and not load_cached_relation(model_relation(node)) -%}
            {%- set relation = model_relation(node) -%}
            {%- do run_query(spark__mart_table(relation, node)) -%}
            {%- do run_query('alter table ' ~ relation ~ ' set location ' ~ spark__text_literal(folder ~ '/' ~ node.alias)) -%}
            {%- if node.alias in filled -%}{%- do run_query('msck repair table ' ~ relation) -%}{%- endif -%}
            {%- do adapter.cache_added(relation.incorporate(type='table')) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}

{% macro spark__is_partitioned(node) %}
    {{- return(node.unique_id.startswith('model.spotter.') and node.fqn[1] == 'marts' and node.config.materialized == 'incremental') -}}
{% endmacro %}

{# The table of a mart, from the columns of its contract. #}
{% macro spark__mart_table(relation, node) -%}
    create table {{ relation }} (
        {%- for column in node.columns.values() -%}
        {{ column.name }} {{ column.data_type }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    ) using parquet partitioned by ({{ node.config.partition_by | join(', ') }})
{%- endmacro %}

{# The names of the marts that have rows. The schema's own folder is there for certain: no match would be an error. #}
{% macro spark__filled_folders(folder) -%}
    {%- set pattern = folder ~ '/{*/*run_id=*,scratch/' ~ target.schema ~ '.db}' -%}
    {%- set names -%}
        select distinct regexp_extract(_metadata.file_path, r'([^/]+)/(?:baseline_run_id=[^/]*/)?run_id=[^/]*/[^/]*$', 1)
        from binaryFile.{{ spark__glob_literal(pattern) }} with (recursiveFileLookup = 'true')
    {%- endset -%}
    {{- return(run_query(names).columns[0].values() | list) -}}
{%- endmacro %}

{# The folder with a folder of Parquet files for each mart, if the catalogue is in memory. #}
{% macro spark__warehouse_folder() -%}
    {{- return(spark__full_path(env_var('SPOTTER_SPARK_WAREHOUSE', 'spark-warehouse')) if target.host == 'in-memory') -}}
{%- endmacro %}

{# dbt asks where to put a table. All but the marts that grow replace what the build before left in their place;
   seeds are inserted, so their place is emptied first. #}
{% macro spark__location_clause() %}
    {%- set folder = spark__warehouse_folder() -%}
    {%- if folder and not spark__is_partitioned(model) %}
        {%- set place = spark__text_literal(folder ~ '/scratch/' ~ model.schema ~ '/' ~ model.alias) -%}
        {%- if model.resource_type == 'seed' -%}
            {%- do run_query('insert overwrite directory ' ~ place ~ ' using parquet select 1 as nothing where false') -%}
        {%- endif %}
    location {{ place }}
    {%- endif -%}
{% endmacro %}
