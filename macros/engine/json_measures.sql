{# The numbers at some paths of a JSON document, as a list in their order; null for anything else. A measure is finite
   and not negative. #}
{% macro json_measures(document, paths) %}
    {{- return(adapter.dispatch('json_measures')(document, paths)) -}}
{% endmacro %}

{% macro duckdb__json_measures(document, paths) %}
    list_transform(
        json_extract({{ document }}, ['{{ paths | join("', '") }}']),
        lambda found: case
            when try_cast(found::varchar as double) between 0 and 1e300
                then try_cast(found::varchar as double)
        end
    )
{% endmacro %}
