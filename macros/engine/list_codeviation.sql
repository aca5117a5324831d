{# The sum of the products of two lists' deviations from their means; exactly 0 if a list does not vary. #}
{% macro list_codeviation(first, second, first_mean, second_mean) %}
    {{- return(adapter.dispatch('list_codeviation')(first, second, first_mean, second_mean)) -}}
{% endmacro %}

{% macro duckdb__list_codeviation(first, second, first_mean, second_mean) %}
    case
        when list_min({{ first }}) = list_max({{ first }})
            or list_min({{ second }}) = list_max({{ second }}) then 0.0
        else list_dot_product(
            list_transform({{ first }}, lambda x: x - {{ first_mean }}),
            list_transform({{ second }}, lambda x: x - {{ second_mean }})
        )
    end
{% endmacro %}
