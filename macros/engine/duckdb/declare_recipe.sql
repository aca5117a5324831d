{# Tell the models of the selection which run to choose tasks from, and how: the var `curate`, an object with the fields of
   `declared_recipe`. `spotter curate` sets the same variables itself. #}
{% macro duckdb__declare_recipe() %}
    {%- set recipe = var('curate') or {} -%}
    set variable spotter_recipe = {{ duckdb__text_literal(tojson([recipe] if recipe.get('run_id') else [])) }};
    set variable spotter_max_row_bytes = {{ var('max_row_mb') | int * 1048576 }};
    set variable spotter_excluded_files = {{ duckdb__text_list(recipe.get('exclude') or ['/dev/null']) }};
{% endmacro %}
