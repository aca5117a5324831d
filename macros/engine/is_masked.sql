{# Whether a rollout is masked: its `mask_sample` is any value that is true in Python. #}
{% macro is_masked(mask) %}
    {{- return(adapter.dispatch('is_masked')(mask)) -}}
{% endmacro %}

{% macro duckdb__is_masked(mask) %}
    coalesce(
        not list_contains(['null', 'false', '""', '[]', '{}'], {{ mask }}::varchar)
        and coalesce(try_cast({{ mask }}::varchar as double) != 0, true),
        false
    )
{% endmacro %}
