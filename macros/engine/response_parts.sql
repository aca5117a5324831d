{# The usage of a response and the fields that the health checks need, in one pass over its text. #}
{% macro response_parts(response) %}
    {{- return(adapter.dispatch('response_parts')(response)) -}}
{% endmacro %}

{% macro duckdb__response_parts(response) %}
    from_json({{ response }}, '{
        "model": "VARCHAR",
        "status": "VARCHAR",
        "incomplete_details": "JSON",
        "usage": "JSON",
        "output": [{
            "type": "VARCHAR",
            "status": "VARCHAR",
            "content": "JSON",
            "name": "VARCHAR",
            "arguments": "VARCHAR",
            "input": "VARCHAR",
            "action": "VARCHAR",
            "code": "VARCHAR",
            "queries": "VARCHAR",
            "summary": "VARCHAR"
        }]
    }')
{% endmacro %}
