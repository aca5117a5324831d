{# The mean of values drawn with uniform numbers. #}
{% macro resampled_mean(values, draws) %}{{ return(adapter.dispatch('resampled_mean')(values, draws)) }}{% endmacro %}

{% macro duckdb__resampled_mean(values, draws) -%}
    list_avg(list_transform(
        list_slice({{ draws }}, 1, len({{ values }})),
        lambda draw: list_extract(
            {{ values }},
            least(len({{ values }}), 1 + cast(floor(draw * len({{ values }})) as bigint))
        )
    ))
{%- endmacro %}

{% macro spark__resampled_mean(values, draws) -%}
    aggregate(
        slice({{ draws }}, 1, array_size({{ values }})),
        0e0,
        (total, draw) -> total + element_at(
            {{ values }},
            cast(least(array_size({{ values }}), 1 + floor(draw * array_size({{ values }}))) as integer)
        ),
        total -> total / array_size({{ values }})
    )
{%- endmacro %}
