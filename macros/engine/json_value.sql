{# A text or a number as JSON. #}
{% macro json_value(expression) %}{{ return(adapter.dispatch('json_value')(expression)) }}{% endmacro %}

{% macro duckdb__json_value(expression) -%}
    to_json({{ expression }})::varchar
{%- endmacro %}

{# A number is written as DuckDB writes it, also where Java would take another power of ten. #}
{% macro spark__json_value(expression) -%}
    {{ spark__plain_numbers('to_json(cast(' ~ expression ~ ' as variant))') }}
{%- endmacro %}

{# JSON text whose numbers are written as DuckDB writes them: Java has 1.0E16 for 10000000000000000.0 and 1.0E-7 for 1e-7.
   Strings stay as they are. #}
{% macro spark__plain_numbers(json) -%}
    {%- set number = "'^-?[0-9.]+E-?[0-9]+$'" -%}
    case
        when {{ json }} rlike '[0-9]E-?[0-9]'
            then array_join(transform(
                regexp_extract_all({{ json }}, r'("(?:[^"\\]++|\\.)*+"|-?[0-9.]+E-?[0-9]+|[^"0-9-]++|.)', 1),
                token -> case when token rlike {{ number }} then {{ spark__plain_number('token') }} else token end
            ), '')
        else {{ json }}
    end
{%- endmacro %}

{# One such number: its digits, and how many of them are before the point. #}
{% macro spark__plain_number(token) -%}
    get(transform(
        array(named_struct(
            'sign', case when {{ token }} like '-%' then '-' else '' end,
            'digits', rtrim('0', replace(replace(split_part({{ token }}, 'E', 1), '.', ''), '-', '')),
            'before', cast(split_part({{ token }}, 'E', 2) as integer) + 1
        )),
        part -> part.sign || case
            when part.before > 21 or part.before <= -6
                then left(part.digits, 1)
                    || case when length(part.digits) > 1 then '.' || substr(part.digits, 2) else '' end
                    || 'e' || (part.before - 1)
            when part.before <= 0 then '0.' || repeat('0', -part.before) || part.digits
            when length(part.digits) <= part.before
                then part.digits || repeat('0', part.before - length(part.digits)) || '.0'
            else left(part.digits, part.before) || '.' || substr(part.digits, part.before + 1)
        end
    ), 0)
{%- endmacro %}
