{# The sampling settings among the parameters of a response, as a list of (setting, value). The values are JSON. #}
{% macro spark__sampling(params, effort) -%}
    filter(
        array(
            named_struct('setting', 'temperature', 'value', {{ spark__json_value(params ~ '.temperature') }}),
            named_struct('setting', 'top_p', 'value', {{ spark__json_value(params ~ '.top_p') }}),
            named_struct('setting', 'max_output_tokens', 'value', cast({{ params }}.max_output_tokens as string)),
            named_struct('setting', 'reasoning_effort', 'value', {{ spark__json_value('substr(' ~ effort ~ ', 1, 40)') }})
        ),
        entry -> entry.value is not null and entry.value != 'null'
    )
{%- endmacro %}

{# A time in seconds since 1970 as a timestamp in UTC; null if no model can have answered then. #}
{% macro spark__unix_time(seconds) -%}
    case
        when {{ seconds }} between 1e9 and 1e11
            then cast(timestamp_micros(cast(bround({{ seconds }} * 1e6) as bigint)) as timestamp_ntz)
    end
{%- endmacro %}
