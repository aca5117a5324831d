{# The numbers at some paths of a JSON document, as a list in the order of the paths. Null for anything that is not a
   finite number of at least 0. #}
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
