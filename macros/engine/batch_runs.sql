{% macro batch_runs() %}
    {{- return(adapter.dispatch('batch_runs')()) -}}
{% endmacro %}

{% macro duckdb__batch_runs() %}
    (select unnest(getvariable('spotter_runs'), recursive := true))
{% endmacro %}
