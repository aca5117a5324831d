{# The batch, as `declare_batch` found it. #}
{% macro duckdb__staged_runs() -%}
    select
        unnest(getvariable('spotter_runs'), recursive := true),
        getvariable('spotter_pass_threshold') as pass_threshold,
        getvariable('spotter_answer_field') as answer_field,
        getvariable('spotter_slice_by') as slice_by,
        getvariable('spotter_batch_hash') as batch_hash,
        {{ duckdb__utc_now() }} as profiled_at
{%- endmacro %}
