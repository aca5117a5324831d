{# The mean of a sample of a list, with replacement and as long as the list. `draws` are numbers from 0 to 1. #}
{% macro resampled_mean(values, draws) %}
    {{- return(adapter.dispatch('resampled_mean')(values, draws)) -}}
{% endmacro %}

{% macro duckdb__resampled_mean(values, draws) %}
    list_avg(list_transform(
        list_slice({{ draws }}, 1, len({{ values }})),
        lambda draw: list_extract(
            {{ values }},
            least(len({{ values }}), 1 + cast(floor(draw * len({{ values }})) as bigint))
        )
    ))
{% endmacro %}
