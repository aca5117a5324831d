{# What an engine must provide: a folder of macros/engine with one file for each macro below. No model names an engine. #}

{# The pairs of runs to compare, one row each. #}
{% macro declared_comparisons() %}{{ return(adapter.dispatch('declared_comparisons')()) }}{% endmacro %}

{# The rule by which a collection stops to draw repeats: at most one row. #}
{% macro declared_stopping_rules() %}{{ return(adapter.dispatch('declared_stopping_rules')()) }}{% endmacro %}

{# One more look at walks that have not beaten their bound: the chance of each number of hits, and which of them beat it now.
   The largest numbers do, as long as their chances fit into what may be spent by this look. #}
{% macro next_look(walks, outcomes, rules) %}{{ return(adapter.dispatch('next_look')(walks, outcomes, rules)) }}{% endmacro %}

{# Hooks: tell the comparison models which runs to compare; remove comparisons before they are inserted again. #}
{% macro declare_comparisons() %}{{ return(adapter.dispatch('declare_comparisons')()) }}{% endmacro %}
{% macro forget_comparisons() %}{{ return(adapter.dispatch('forget_comparisons')()) }}{% endmacro %}

{# The recipe by which tasks are chosen, as at most one row; the hook that sets it; the tasks that it excludes. #}
{% macro declared_recipe() %}{{ return(adapter.dispatch('declared_recipe')()) }}{% endmacro %}
{% macro declare_recipe() %}{{ return(adapter.dispatch('declare_recipe')()) }}{% endmacro %}
{% macro excluded_tasks() %}{{ return(adapter.dispatch('excluded_tasks')()) }}{% endmacro %}
