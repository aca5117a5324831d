{# What an engine must provide: a folder of macros/engine with one file for each macro below. No model names an engine. #}

{# The pairs of runs to compare, one row each. #}
{% macro declared_comparisons() %}{{ return(adapter.dispatch('declared_comparisons')()) }}{% endmacro %}

{# Hooks: tell the comparison models which runs to compare; remove comparisons before they are inserted again. #}
{% macro declare_comparisons() %}{{ return(adapter.dispatch('declare_comparisons')()) }}{% endmacro %}
{% macro forget_comparisons() %}{{ return(adapter.dispatch('forget_comparisons')()) }}{% endmacro %}

