{# How often the model was asked: a result of a tool with an item of the model behind it begins another turn, as does the
   start. The argument is the list of the items' types. #}
{% macro turn_count(item_types) -%}
    {%- set flags -%}
        '-' || {{ list_join(
            list_map(item_types, 'type', "case when right(type, 7) = '_output' then '-' else 'm' end"), "''"
        ) }}
    {%- endset -%}
    (length({{ flags }}) - length(replace({{ flags }}, '-m', ''))) / 2
{%- endmacro %}
