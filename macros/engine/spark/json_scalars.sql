{# A whole number, also one that is written as a fraction, like 1.0. A double holds such a number exactly below 2^53. #}
{% macro spark__json_integer(json) -%}
    case
        when cast(try_cast({{ json }} as bigint) as string) = {{ json }}
            then try_cast({{ json }} as bigint)
        when abs(try_cast({{ json }} as double)) < 9007199254740992e0
            and try_cast({{ json }} as double) = floor(try_cast({{ json }} as double))
            then cast(try_cast({{ json }} as double) as bigint)
    end
{%- endmacro %}

{# A number, or a boolean as 0 or 1. #}
{% macro spark__json_number(json) -%}
    case {{ json }}
        when 'true' then 1e0
        when 'false' then 0e0
        else try_cast({{ json }} as double)
    end
{%- endmacro %}

{# The members of an object as a list of (key, value), of its JSON text. A name may appear twice. #}
{% macro spark__json_members(json) -%}
    {{ spark__typed_entries(
        'from_json(' ~ json ~ ", 'map<string, string>', " ~ spark__json_options() ~ ')',
        'from_json(' ~ json ~ ", 'map<string, variant>', " ~ spark__json_options() ~ ')'
    ) }}
{%- endmacro %}

{# The number at a path of a variant. A measure is finite and not negative; anything else is null. #}
{% macro spark__json_measure(parsed, path) -%}
    case
        when schema_of_variant(try_variant_get({{ parsed }}, '{{ path }}', 'variant')) not in ('STRING', 'BOOLEAN')
            and try_variant_get({{ parsed }}, '{{ path }}', 'double') between 0 and 1e300
            then try_variant_get({{ parsed }}, '{{ path }}', 'double')
    end
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
