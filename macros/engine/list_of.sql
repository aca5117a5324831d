{# A list of some items. #}
{% macro list_of(items) %}{{ return(adapter.dispatch('list_of')(items)) }}{% endmacro %}

{% macro duckdb__list_of(items) -%}
    [{{ items | join(', ') }}]
{%- endmacro %}

{% macro spark__list_of(items) -%}
    array({{ items | join(', ') }})
{%- endmacro %}
