{# Nothing to do: the warehouse is a file that knows its tables. #}
{% macro duckdb__open_warehouse() %}{% endmacro %}
