{# One process writes one file well. #}
{% macro duckdb__write_part_files() %}
    {%- if execute and var('part_files') -%}
        {{ exceptions.raise_compiler_error(
            'The var part_files is for Spark: without it, `spotter profile` writes the files of NeMo Gym'
        ) }}
    {%- endif -%}
{% endmacro %}
