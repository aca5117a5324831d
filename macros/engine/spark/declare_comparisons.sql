{# Nothing to tell: `declared_comparisons` reads the vars. #}
{% macro spark__declare_comparisons() %}{% endmacro %}
