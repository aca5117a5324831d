{# Hook: tell the selection's staging models the recipe in the var `curate`, an object with the fields of `base_recipes`. #}
{% macro declare_recipe() %}{{ return(adapter.dispatch('declare_recipe')()) }}{% endmacro %}

{# As DuckDB's variables, which `spotter curate` sets itself. #}
{% macro duckdb__declare_recipe() %}
    {%- set recipe = var('curate') or {} -%}
    set variable spotter_recipe = {{ duckdb__text_literal(tojson([recipe] if recipe.get('run_id') else [])) }};
    set variable spotter_excluded_files = {{ duckdb__text_list(recipe.get('exclude') or ['/dev/null']) }};
{% endmacro %}

{# Nothing to tell: the base models of Spark read the var. #}
{% macro spark__declare_recipe() %}{% endmacro %}
