{# The lines of a kind of file, each as a map of its top-level fields to their JSON text, in their order. `texts` has strings
   without their quotes, `variants` the parsed values. In a line that is not a JSON object all three are null, which an
   audit counts. #}
{% macro spark__read_rows(kind) -%}
    {{ spark__parsed(spark__read_lines(kind)) }}
{%- endmacro %}

{# The same of one file or pattern. #}
{% macro spark__read_file(path) -%}
    {{ spark__parsed(spark__lines_of(spark__full_path(path), '*')) }}
{%- endmacro %}

{# A line is parsed twice. Only the first way keeps the names' order and each number as written; only the second tells
   "1.5" from 1.5. Inside of an array, anything behind the object is an error, which Spark would ignore otherwise. #}
{% macro spark__parsed(lines) -%}
    {%- set names = 'map_keys(texts)' -%}
    (
        select
            file_path,
            line,
            texts,
            variants,
            case
                when array_size(array_distinct({{ names }})) = array_size({{ names }})
                    then map_from_entries({{ spark__typed_entries('texts', 'variants') }})
            end as fields
        from (
            select
                file_path,
                line,
                get(from_json('[' || line || ']', 'array<map<string, string>>', {{ spark__json_options() }}), 0) as texts,
                get(from_json('[' || line || ']', 'array<map<string, variant>>', {{ spark__json_options() }}), 0) as variants
            from {{ lines }}
        ) as parsed
    )
{%- endmacro %}

{# A list of (key, value) from both ways to parse an object: the value is JSON text. #}
{% macro spark__typed_entries(texts, variants) -%}
    zip_with(
        map_entries({{ texts }}), map_values({{ variants }}),
        (entry, parsed) -> named_struct(
            'key', entry.key,
            'value', case
                when entry.value is null then null
                when schema_of_variant(parsed) = 'STRING' then to_json(parsed)
                when schema_of_variant(parsed) in ('DOUBLE', 'FLOAT')
                    then {{ spark__plain_numbers("replace(entry.value, '\"', '')") }}
                else {{ spark__plain_numbers('entry.value') }}
            end
        )
    )
{%- endmacro %}

{% macro spark__json_options() -%}
    map('allowNonNumericNumbers', 'true', 'maxStringLen', '{{ var('max_row_mb') | int * 1048576 }}')
{%- endmacro %}

{# The lines of a kind of file, as text. The rollouts are in the pattern of every kind, and filtered out again: a pattern
   that matches nothing is an error. #}
{% macro spark__read_lines(kind) -%}
    {%- if kind == 'inputs' and var('inputs') -%}
        {{ spark__lines_of(spark__full_path(var('inputs')), '*') }}
    {%- elif kind == 'rollouts' -%}
        {{ spark__lines_of(spark__batch_pattern([]), '*.jsonl') }}
    {%- elif kind == 'verdicts' -%}
        {{ spark__lines_of(spark__batch_pattern([kind]), 'rollout_verdicts.jsonl') }}
    {%- else -%}
        {{ spark__lines_of(spark__batch_pattern([kind]), '*' ~ spark__ending(kind)) }}
    {%- endif -%}
{%- endmacro %}

{# Empty lines are not rows, and folders called `name=value` are not columns. Text that is not UTF-8 is not JSON. #}
{% macro spark__lines_of(pattern, file_names) -%}
    (
        select
            {{ spark__file_path() }} as file_path,
            case when is_valid_utf8(value) then value end as line
        from text.{{ spark__glob_literal(pattern) }}
            with (lineSep = '\n', recursiveFileLookup = 'true', pathGlobFilter = {{ spark__text_literal(file_names) }})
        where trim(value) not in ('', '\r')
            {%- if file_names == '*.jsonl' %}
            and not _metadata.file_path rlike r'_(materialized_inputs|failures|reward_profiling|attempts)\.jsonl$'
            {%- endif %}
    )
{%- endmacro %}

{# The pattern of the batch's rollouts, and of the files of some kinds beside them. #}
{% macro spark__batch_pattern(kinds) -%}
    {%- set path = spark__full_path(env_var('SPOTTER_ROLLOUTS', '') or var('rollouts')) -%}
    {%- set name = path.split('/')[-1] -%}
    {%- set stem = name[:-6] if name.endswith('.jsonl') else '*' -%}
    {%- set names = [name] -%}
    {%- for kind in kinds -%}
        {%- do names.append('rollout_verdicts.jsonl' if kind == 'verdicts' else stem ~ spark__ending(kind)) -%}
    {%- endfor -%}
    {%- set last = names[0] if names | length == 1 else '{' ~ names | join(',') ~ '}' -%}
    {{- return(path[:(path | length) - (name | length)] ~ last) -}}
{%- endmacro %}

{# How the name of a file ends that belongs to a run. #}
{% macro spark__ending(kind) -%}
    {{- return({'inputs': '_materialized_inputs.jsonl', 'failures': '_failures.jsonl'}[kind]) -}}
{%- endmacro %}

{# Spark has a URI with codes for some characters. A path of the own machine loses its scheme. #}
{% macro spark__file_path() -%}
    regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '^file:/+', '/')
{%- endmacro %}
