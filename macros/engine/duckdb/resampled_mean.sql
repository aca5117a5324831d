{% macro duckdb__resampled_mean(values, draws) -%}
    list_avg(list_transform(
        list_slice({{ draws }}, 1, len({{ values }})),
        lambda draw: list_extract(
            {{ values }},
            least(len({{ values }}), 1 + cast(floor(draw * len({{ values }})) as bigint))
        )
    ))
{%- endmacro %}
