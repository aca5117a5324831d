{# What a response says of itself, and the fields of its items that tell two outputs apart, in one pass over its text. #}
{% macro duckdb__response_parts(response) -%}
    from_json({{ response }}, '{
        "model": "VARCHAR", "status": "VARCHAR", "incomplete_details": "JSON", "usage": "JSON", "created_at": "DOUBLE",
        "temperature": "DOUBLE", "top_p": "DOUBLE", "max_output_tokens": "BIGINT", "reasoning": "JSON",
        "output": [{
            "type": "VARCHAR", "status": "VARCHAR", "content": "JSON", "name": "VARCHAR", "arguments": "VARCHAR",
            "input": "VARCHAR", "action": "VARCHAR", "code": "VARCHAR", "queries": "VARCHAR", "summary": "VARCHAR"
        }]
    }')
{%- endmacro %}

{# The usage of a response: where it may be there twice, the last, as Python reads it. `usage` is the first.
   The text is minified, and inside a string every quote is escaped, so `"usage":` can only be a key. Usually the usage
   is the last member, or `user` alone follows it: the end of the text tells so without a search through all of it. #}
{% macro duckdb__last_usage(response, usage) -%}
    case
        when ends_with({{ response }}, ',"usage":' || {{ usage }} || '}') then {{ usage }}
        when ends_with({{ response }}, ',"usage":' || {{ usage }} || ',"user":null}') then {{ usage }}
        when {{ response }} like '%"usage":%"usage":%'
            then list_filter(
                {{ duckdb__json_members(response) }}, lambda member: member.key = 'usage'
            )[-1].value
        else {{ usage }}
    end
{%- endmacro %}
