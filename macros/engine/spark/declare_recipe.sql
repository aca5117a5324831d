{# Nothing to tell: `declared_recipe` and `excluded_tasks` read the vars. #}
{% macro spark__declare_recipe() %}{% endmacro %}
