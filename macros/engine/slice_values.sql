{# The values of the fields to slice by, as a list of (slice_by, slice_value); null if the value is not a scalar. #}
{% macro slice_values(fields) %}
    {{- return(adapter.dispatch('slice_values')(fields)) -}}
{% endmacro %}

{% macro duckdb__slice_values(fields) %}
    list_transform(
        {{ setting('slice_by') }},
        lambda name: {
            'slice_by': name,
            'slice_value': case
                when ascii({{ fields }}[name]::varchar) not in (91, 123)
                    and {{ fields }}[name]::varchar != 'null'
                    then {{ short_text('json_extract_string(' ~ fields ~ "[name], '$')") }}
            end
        }
    )
{% endmacro %}
