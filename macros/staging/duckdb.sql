{# What several staging models of DuckDB share. #}

{# A whole number, also one that is written as a fraction, like 1.0. A double holds such a number exactly below 2^53. #}
{% macro duckdb__json_integer(json) -%}
    case
        when try_cast({{ json }}::varchar as bigint)::varchar = {{ json }}::varchar
            then try_cast({{ json }}::varchar as bigint)
        when abs(try_cast({{ json }}::varchar as double)) < 9007199254740992e0
            and try_cast({{ json }}::varchar as double) = floor(try_cast({{ json }}::varchar as double))
            then try_cast({{ json }}::varchar as double)::bigint
    end
{%- endmacro %}

{# The members of an object as a list of (key, value): much faster than a cast to a map. A name may appear twice. #}
{% macro duckdb__json_members(json) -%}
    list_zip(json_keys({{ json }}), json_extract({{ json }}, '$.*'))
    ::struct(key varchar, value json)[]
{%- endmacro %}

{# The prompt in `input`: a text, or a list of messages. A list of one gives the input a name. #}
{% macro duckdb__prompt(params) -%}
    {%- set messages -%}
        list_transform(
            from_json(input, '[{"type": "VARCHAR", "role": "VARCHAR", "content": "JSON"}]'),
            lambda message: {
                'type': message.type, 'role': message.role, 'text': {{ duckdb__content_text('message.content') }}
            }
        )
    {%- endset -%}
    list_filter(
        list_transform(
            [json_extract({{ params }}, '$.input')],
            lambda input: case ascii(input)
                when 34 then json_extract_string(input, '$')
                when 91 then {{ prompt_text(messages) }}
            end
        ),
        lambda prompt: prompt != ''
    )[1]
{%- endmacro %}

{# The text of a message: its content itself, or the texts of the content's parts.
   The first character tells a string (34) from a list (91), and both from anything else. #}
{% macro duckdb__content_text(content) -%}
    case ascii({{ content }})
        when 34 then json_extract_string({{ content }}, '$')
        when 91 then array_to_string(list_filter(
            list_transform(
                from_json({{ content }}, '[{"text": "JSON"}]'),
                lambda part: case when ascii(part.text) = 34 then json_extract_string(part.text, '$') end
            ),
            lambda text: text != ''
        ), chr(10))
    end
{%- endmacro %}

{# The sampling settings among the parameters of a response, as a list of (setting, value). The values are JSON. #}
{% macro duckdb__sampling(params) -%}
    list_filter(
        [
            {'setting': 'temperature', 'value': to_json({{ params }}.temperature)::varchar},
            {'setting': 'top_p', 'value': to_json({{ params }}.top_p)::varchar},
            {'setting': 'max_output_tokens', 'value': to_json({{ params }}.max_output_tokens)::varchar},
            {'setting': 'reasoning_effort', 'value': to_json(substr(json_extract_string({{ params }}.reasoning, '$.effort'), 1, 40))::varchar}
        ],
        lambda entry: entry.value is not null and entry.value != 'null'
    )
{%- endmacro %}

{# The values of the fields to slice by, as a list of (slice_by, slice_value). Without names the lambda is not called:
   it would still copy the fields. #}
{% macro duckdb__slice_values(fields, names) -%}
    case
        when len({{ names }}) > 0
            then list_transform(
                {{ names }},
                lambda name: {
                    'slice_by': name,
                    'slice_value': {{ slice_value(fields ~ '[name]::varchar', "json_extract_string(" ~ fields ~ "[name], '$')") }}
                }
            )
        else []
    end
{%- endmacro %}

{# The numbers at some paths, as a list in their order. A measure is finite and not negative; anything else is null. #}
{% macro duckdb__json_measures(json, paths) -%}
    list_transform(
        json_extract({{ json }}, ['{{ paths | join("', '") }}']),
        lambda measure: case
            when try_cast(measure::varchar as double) between 0 and 1e300
                then try_cast(measure::varchar as double)
        end
    )
{%- endmacro %}
