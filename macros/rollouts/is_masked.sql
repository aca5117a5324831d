{# Whether a rollout is masked: its `mask_sample`, as JSON text, is anything that Python takes for true. #}
{% macro is_masked(mask) -%}
    coalesce(
        {{ mask }} not in ('null', 'false', '""', '[]', '{}')
        and coalesce(try_cast({{ mask }} as double) != 0, true),
        false
    )
{%- endmacro %}
