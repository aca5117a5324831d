{# What several staging models of Spark share. #}

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

{# The prompt in `input`: a text, or a list of messages. A list of one gives the input a name. #}
{% macro spark__prompt(params) -%}
    {%- set messages -%}
        transform(
            cast(input as array<variant>),
            message -> named_struct(
                'type', try_variant_get(message, '$.type', 'string'),
                'role', try_variant_get(message, '$.role', 'string'),
                'text', {{ spark__content_text("try_variant_get(message, '$.content', 'variant')") }}
            )
        )
    {%- endset -%}
    get(filter(
        transform(
            array(try_variant_get(get(from_json('[' || {{ params }} || ']', 'array<variant>', {{ spark__json_options() }}), 0), '$.input', 'variant')),
            input -> case
                when schema_of_variant(input) = 'STRING' then cast(input as string)
                when schema_of_variant(input) like 'ARRAY%' then {{ prompt_text(messages) }}
            end
        ),
        prompt -> prompt != ''
    ), 0)
{%- endmacro %}

{# The text of a message: its content itself, or the texts of the content's parts. #}
{% macro spark__content_text(content) -%}
    case
        when schema_of_variant({{ content }}) = 'STRING' then cast({{ content }} as string)
        when schema_of_variant({{ content }}) like 'ARRAY%' then array_join(filter(
            transform(
                cast({{ content }} as array<variant>),
                part -> case
                    when schema_of_variant(try_variant_get(part, '$.text', 'variant')) = 'STRING'
                        then try_variant_get(part, '$.text', 'string')
                end
            ),
            text -> text != ''
        ), chr(10))
    end
{%- endmacro %}

{# The sampling settings among the parameters of a response, as a list of (setting, value). The values are JSON. #}
{% macro spark__sampling(params) -%}
    filter(
        array(
            named_struct('setting', 'temperature', 'value', {{ spark__json_value(params ~ '.temperature') }}),
            named_struct('setting', 'top_p', 'value', {{ spark__json_value(params ~ '.top_p') }}),
            named_struct('setting', 'max_output_tokens', 'value', cast({{ params }}.max_output_tokens as string)),
            named_struct('setting', 'reasoning_effort', 'value', {{ spark__json_value('substr(' ~ params ~ '.effort, 1, 40)') }})
        ),
        entry -> entry.value is not null and entry.value != 'null'
    )
{%- endmacro %}

{# The values of the fields to slice by, as a list of (slice_by, slice_value). #}
{% macro spark__slice_values(fields, texts, names) -%}
    transform(
        {{ names }},
        name -> named_struct(
            'slice_by', name,
            'slice_value', {{ slice_value(fields ~ '[name]', texts ~ '[name]') }}
        )
    )
{%- endmacro %}

{# The name and the tags of each file's run: those that it has in the warehouse, else the name of its folder and its own. If
   another file has the same name, more folders are part of it, and at last a hash. #}
{% macro spark__run_names(files) -%}
    {%- set runs = load_relation(api.Relation.create(schema=target.schema, identifier='runs')) -%}
    known as (
        {%- if runs %}
        select
            rollouts_path,
            max_by(run_id, profiled_at) as run_id,
            max_by(tags, profiled_at) as tags
        from {{ runs }}
        group by rollouts_path
        {%- else %}
        select
            cast(null as string) as rollouts_path,
            cast(null as string) as run_id,
            cast(null as string) as tags
        where false
        {%- endif %}
    ),

    parts as (
        select
            rollouts_path,
            filter(split(regexp_replace(rollouts_path, r'\.jsonl$', ''), '/'), part -> part != '') as parts
        from {{ files }}
    ),

    candidates as (
        select
            rollouts_path,
            depth,
            array_join(slice(parts, -depth, depth), '-') as name
        from (
            select
                *,
                explode(sequence(least(2, array_size(parts)), array_size(parts))) as depth
            from parts
        ) as deep
    ),

    free as (
        select
            rollouts_path,
            min_by(name, depth) as name
        from candidates
        where name not in (select known.run_id from known)
            and name in (select one.name from candidates as one group by one.name having count(*) = 1)
        group by rollouts_path
    ),

    names as (
        select
            parts.rollouts_path,
            coalesce(
                known.run_id, free.name,
                element_at(parts.parts, -1) || '-' || left(md5(parts.rollouts_path), 8)
            ) as name,
            known.tags
        from parts
        left join free using (rollouts_path)
        left join known using (rollouts_path)
    )
{%- endmacro %}

{# The tags that a run has and those that are given: the given ones win. #}
{% macro spark__merged_tags(known, given) -%}
    to_json(map_concat(
        map_filter(
            coalesce(from_json({{ known }}, 'map<string, string>'), map()),
            (name, value) -> not array_contains({{ spark__text_list(given.keys() | list) }}, name)
        ),
        from_json({{ spark__text_literal(tojson(given)) }}, 'map<string, string>')
    ))
{%- endmacro %}
