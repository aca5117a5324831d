{# The sampling settings among the parameters of a response, as a list of (setting, value). The values are JSON. #}
{% macro duckdb__sampling(params, effort) -%}
    list_filter(
        [
            {'setting': 'temperature', 'value': to_json({{ params }}.temperature)::varchar},
            {'setting': 'top_p', 'value': to_json({{ params }}.top_p)::varchar},
            {'setting': 'max_output_tokens', 'value': to_json({{ params }}.max_output_tokens)::varchar},
            {'setting': 'reasoning_effort', 'value': to_json(substr({{ effort }}, 1, 40))::varchar}
        ],
        lambda entry: entry.value is not null and entry.value != 'null'
    )
{%- endmacro %}

{# A time in seconds since 1970 as a timestamp in UTC; null if no model can have answered then. #}
{% macro duckdb__unix_time(seconds) -%}
    case
        when {{ seconds }} between 1e9 and 1e11
            then make_timestamp(cast({{ seconds }} * 1e6 as bigint))
    end
{%- endmacro %}
