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
