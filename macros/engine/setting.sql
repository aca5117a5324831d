{# A setting of the profile: `pass_threshold`, `answer_field` or `slice_by`, the fields to slice by. #}
{% macro setting(name) %}
    {{- return(adapter.dispatch('setting')(name)) -}}
{% endmacro %}

{% macro duckdb__setting(name) %}
    {{- "getvariable('spotter_" ~ name ~ "')" -}}
{% endmacro %}
