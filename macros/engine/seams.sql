{# What an engine must provide: a folder of macros/engine with one file for each macro below. No model names an engine.

   Relations, which do all reading and all JSON: the columns are those of the staging model of the same name. #}
{% macro staged_runs() %}{{ return(adapter.dispatch('staged_runs')()) }}{% endmacro %}
{% macro staged_rollouts() %}{{ return(adapter.dispatch('staged_rollouts')()) }}{% endmacro %}
{% macro staged_inputs() %}{{ return(adapter.dispatch('staged_inputs')()) }}{% endmacro %}
{% macro staged_failures() %}{{ return(adapter.dispatch('staged_failures')()) }}{% endmacro %}
{% macro staged_verdicts() %}{{ return(adapter.dispatch('staged_verdicts')()) }}{% endmacro %}
{% macro staged_prices() %}{{ return(adapter.dispatch('staged_prices')()) }}{% endmacro %}

{# The pairs of runs to compare, one row each. #}
{% macro declared_comparisons() %}{{ return(adapter.dispatch('declared_comparisons')()) }}{% endmacro %}

{# The rule by which a collection stops to draw repeats: at most one row. #}
{% macro declared_stopping_rules() %}{{ return(adapter.dispatch('declared_stopping_rules')()) }}{% endmacro %}

{# One more look at walks that have not beaten their bound: the chance of each number of hits, and which of them beat it now.
   The largest numbers do, as long as their chances fit into what may be spent by this look. #}
{% macro next_look(walks, outcomes, rules) %}{{ return(adapter.dispatch('next_look')(walks, outcomes, rules)) }}{% endmacro %}

{# Hook: open the warehouse before anything is built. #}
{% macro open_warehouse() %}{{ return(adapter.dispatch('open_warehouse')()) }}{% endmacro %}

{# Hooks: tell staging which runs to read; remove these runs from a mart before they are inserted again. #}
{% macro declare_batch() %}{{ return(adapter.dispatch('declare_batch')()) }}{% endmacro %}
{% macro forget_batch() %}{{ return(adapter.dispatch('forget_batch')()) }}{% endmacro %}

{# Hook: write the lines of NeMo Gym's profile as part files, if the var `part_files` names a folder. #}
{% macro write_part_files() %}{{ return(adapter.dispatch('write_part_files')()) }}{% endmacro %}

{# Hooks: tell the comparison models which runs to compare; remove comparisons before they are inserted again. #}
{% macro declare_comparisons() %}{{ return(adapter.dispatch('declare_comparisons')()) }}{% endmacro %}
{% macro forget_comparisons() %}{{ return(adapter.dispatch('forget_comparisons')()) }}{% endmacro %}

{# The recipe by which tasks are chosen, as at most one row; the hook that sets it; the tasks that it excludes. #}
{% macro declared_recipe() %}{{ return(adapter.dispatch('declared_recipe')()) }}{% endmacro %}
{% macro declare_recipe() %}{{ return(adapter.dispatch('declare_recipe')()) }}{% endmacro %}
{% macro excluded_tasks() %}{{ return(adapter.dispatch('excluded_tasks')()) }}{% endmacro %}

{# A text with one space where there was any white space. #}
{% macro one_spaced(text) %}{{ return(adapter.dispatch('one_spaced')(text)) }}{% endmacro %}

{# Texts in a fixed order, with commas between them. #}
{% macro text_in_order(expression, order_by) %}{{ return(adapter.dispatch('text_in_order')(expression, order_by)) }}{% endmacro %}

{# Lists. `item` names an element inside of a condition or an expression. #}
{% macro list_of(items) %}{{ return(adapter.dispatch('list_of')(items)) }}{% endmacro %}
{% macro list_where(list, item, condition) %}{{ return(adapter.dispatch('list_where')(list, item, condition)) }}{% endmacro %}
{% macro list_map(list, item, expression) %}{{ return(adapter.dispatch('list_map')(list, item, expression)) }}{% endmacro %}
{% macro list_join(list, separator) %}{{ return(adapter.dispatch('list_join')(list, separator)) }}{% endmacro %}
{% macro list_json(list) %}{{ return(adapter.dispatch('list_json')(list)) }}{% endmacro %}
{% macro list_length(list) %}{{ return(adapter.dispatch('list_length')(list)) }}{% endmacro %}
{% macro list_position(list, value) %}{{ return(adapter.dispatch('list_position')(list, value)) }}{% endmacro %}
{% macro list_sum(list) %}{{ return(adapter.dispatch('list_sum')(list)) }}{% endmacro %}
{% macro list_mean(list) %}{{ return(adapter.dispatch('list_mean')(list)) }}{% endmacro %}
{% macro list_std(list, mean) %}{{ return(adapter.dispatch('list_std')(list, mean)) }}{% endmacro %}
{# Some columns as one value with fields of their names, or from a map of names to expressions. #}
{% macro record(columns) %}{{ return(adapter.dispatch('record')(columns)) }}{% endmacro %}

{# Rows from a list of records, or from the numbers up to a limit. #}
{% macro rows_of(records) %}{{ return(adapter.dispatch('rows_of')(records)) }}{% endmacro %}
{% macro numbers_to(limit, first=1) %}{{ return(adapter.dispatch('numbers_to')(limit, first)) }}{% endmacro %}

{# The logarithm of n!. #}
{% macro log_factorial(n) %}{{ return(adapter.dispatch('log_factorial')(n)) }}{% endmacro %}

{# The last value that is not null, as a window function. #}
{% macro last_known(expression) %}{{ return(adapter.dispatch('last_known')(expression)) }}{% endmacro %}

{# The bootstrap: four numbers from 0 up to 1 from the digits of an MD5, and the mean of values drawn with them. #}
{% macro uniform_draws(digest) %}{{ return(adapter.dispatch('uniform_draws')(digest)) }}{% endmacro %}
{% macro resampled_mean(values, draws) %}{{ return(adapter.dispatch('resampled_mean')(values, draws)) }}{% endmacro %}

{# Whether a text contains a match of a regular expression, which is given without quotes. #}
{% macro matches(text, pattern) %}{{ return(adapter.dispatch('matches')(text, pattern)) }}{% endmacro %}

{# A text or a number as JSON; a time that says that it is UTC; the time of the query in UTC, without a zone; a mart as
   a Parquet file; an error that ends the query. #}
{% macro json_value(expression) %}{{ return(adapter.dispatch('json_value')(expression)) }}{% endmacro %}
{% macro as_utc(column) %}{{ return(adapter.dispatch('as_utc')(column)) }}{% endmacro %}
{% macro utc_now() %}{{ return(adapter.dispatch('utc_now')()) }}{% endmacro %}
{% macro export_mart(relation, columns, folder) %}{{ return(adapter.dispatch('export_mart')(relation, columns, folder)) }}{% endmacro %}
{% macro fail(message) %}{{ return(adapter.dispatch('fail')(message)) }}{% endmacro %}
