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

{# A number, or a boolean as 0 or 1. #}
{% macro duckdb__json_number(json) -%}
    case {{ json }}::varchar
        when 'true' then 1e0
        when 'false' then 0e0
        else try_cast({{ json }}::varchar as double)
    end
{%- endmacro %}

{# The members of an object as a list of (key, value): much faster than a cast to a map. A name may appear twice. #}
{% macro duckdb__json_members(json) -%}
    list_zip(json_keys({{ json }}), json_extract({{ json }}, '$.*'))
    ::struct(key varchar, value json)[]
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
