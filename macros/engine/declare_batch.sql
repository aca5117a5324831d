{# Hook: tell staging which runs to read. #}
{% macro declare_batch() %}{{ return(adapter.dispatch('declare_batch')()) }}{% endmacro %}

{# As DuckDB's variables, which `spotter profile` sets itself. #}
{% macro duckdb__declare_batch() %}
    {#- dbt reads Jinja in a var, not in an environment variable: any path can be given there -#}
    {%- set rollouts = duckdb__text_literal(env_var('SPOTTER_ROLLOUTS', '') or var('rollouts')) -%}
    {%- set inputs = duckdb__text_literal(var('inputs')) if var('inputs') else 'null' -%}
    {%- set run_id = duckdb__text_literal(var('run_id')) if var('run_id') else 'null' -%}
    {%- set tags = {} -%}
    {%- for name, value in (var('tags') or {}).items() -%}{%- do tags.update({name: value | string}) -%}{%- endfor %}
    set variable spotter_batch_hash = '{{ batch_hash() }}';
    set variable spotter_max_row_bytes = {{ var('max_row_mb') | int * 1048576 }};
    set variable spotter_pass_threshold = {{ var('pass_threshold') | float }}::double;
    set variable spotter_answer_field = {{ duckdb__text_literal(var('answer_field')) }};
    {%- set fields = [var('slice_by')] if var('slice_by') is string else var('slice_by') or [] %}
    {%- if 'all' in fields or '' in fields -%}
        {{ exceptions.raise_compiler_error('slice_by: name fields of the inputs or rollouts') }}
    {%- endif %}
    set variable spotter_slice_by = {{ duckdb__text_list(fields) }};
    set variable spotter_prices = {{ duckdb__price_list(var('prices') or {}) }};
    set variable spotter_runs = (
        with

        -- a path that exists is taken as it is, even when it looks like a pattern
        literal as (
            select file from glob({{ duckdb__glob_literal(rollouts) }})
        ),

        matched as (
            select file from literal
            union
            select file from glob({{ rollouts }}) where not exists (from literal)
        ),

        files as (
            select
                file as rollouts_file,
                {{ duckdb__full_path('file') }} as rollouts_path,
                file[:-7] as stem,
                regexp_extract(file, '^.*/') as folder,
                -- the verdicts of NeMo Gym's health check do not name their run
                count(*) over (partition by regexp_extract(file, '^.*/')) as run_count,
                coalesce({{ inputs }}, file[:-7] || '_materialized_inputs.jsonl') as inputs_file
            from matched
            where ends_with(file, '.jsonl')
                and not regexp_matches(
                    file, '(_(materialized_inputs|failures|reward_profiling|attempts)|^(.*/)?rollout_verdicts)\.jsonl$'
                )
        ),

        {{ duckdb__run_names('files') }},

        runs as (
            select *
            from files
            inner join names using (rollouts_path)
        )

        select list({
            'run_id': coalesce({{ run_id }}, name),
            'rollouts_path': rollouts_path,
            'inputs_path': {{ duckdb__full_path('inputs_file') }},
            'failures_path': {{ duckdb__full_path("stem || '_failures.jsonl'") }},
            'rollouts_file': rollouts_file,
            'inputs_file': inputs_file,
            'failures_file': stem || '_failures.jsonl',
            'torn_rollouts_count': 0::bigint,
            'torn_failures_count': 0::bigint,
            'is_partial_allowed': {{ (var('allow_partial_rollouts') | string | lower) == 'true' }},
            'zero_classes': {{ duckdb__text_list(var('count_failure_classes_as_zero')) }},
            'prices_path': null::varchar,
            'stopping_rule': null::varchar,
            'origin_rollouts_path': null::varchar,
            -- what only the collector's record tells: `spotter profile` reads it
            'recorded_models': []::varchar[],
            'recorded_environments': []::varchar[],
            'started_at': null::timestamp,
            'ended_at': null::timestamp,
            'made_with': null::varchar,
            'endpoint_host': null::varchar,
            'task_file': null::varchar,
            'task_file_hash': null::varchar,
            'tags': json_merge_patch(coalesce(tags, '{}'), {{ duckdb__text_literal(tojson(tags)) }})::varchar,
            'is_missing_zero': {{ (var('count_missing_rollouts_as_zero') | string | lower) == 'true' }},
            'verdicts_file': case
                when run_count = 1 then folder || 'rollout_verdicts.jsonl'
                else ''
            end
        } order by rollouts_file)
        from runs
    );
    {#- check before any file is read: a missing file would count as an empty one -#}
    select case
        when getvariable('spotter_runs') is null
            then error('No rollouts file matches ' || {{ rollouts }})
        when {{ run_id }} is not null and len(getvariable('spotter_runs')) > 1
            then error('run_id names one run, but several rollouts files match ' || {{ rollouts }})
    end;
    {% for kind in ['rollouts', 'inputs', 'failures', 'verdicts'] %}
    set variable spotter_{{ kind }}_files = (
        {#- the null device stands in where no file exists, so that the columns are known; DuckDB
            takes an empty path for every JSON file under the current folder -#}
        select coalesce(list({{ duckdb__glob_literal('run.' ~ kind ~ '_file') }}), []) || ['/dev/null']
        from (select unnest(getvariable('spotter_runs')) as run)
        where run.{{ kind }}_file != ''
    );
    {% endfor %}
    select error('No materialized inputs at ' || run.inputs_path)
    from (select unnest(getvariable('spotter_runs')) as run)
    where run.inputs_file not in (select file from glob(getvariable('spotter_inputs_files')));
{% endmacro %}

{# The name and the tags of each file's run: those that it has in the warehouse, else the name of its folder and its own. If
   another file has the same name, more folders are part of it, and at last a hash. #}
{% macro duckdb__run_names(files) -%}
    {%- set runs = load_relation(api.Relation.create(database=target.database, schema=target.schema, identifier='runs')) -%}
    {%- set has_tags = runs and 'tags' in (adapter.get_columns_in_relation(runs) | map(attribute='name')) -%}
    known as (
        {%- if runs %}
        select
            rollouts_path,
            arg_max(run_id, profiled_at) as run_id,
            {{ 'arg_max(tags, profiled_at)' if has_tags else 'null::varchar' }} as tags
        from {{ runs }}
        group by rollouts_path
        {%- else %}
        select null::varchar as rollouts_path, null::varchar as run_id, null::varchar as tags where false
        {%- endif %}
    ),

    parts as (
        select
            rollouts_path,
            list_filter(string_split(rollouts_path[:-7], '/'), lambda part: part != '') as parts
        from {{ files }}
    ),

    candidates as (
        select
            rollouts_path,
            depth,
            array_to_string(parts[-depth:], '-') as name
        from (select *, unnest(range(least(2, len(parts)), len(parts) + 1)) as depth from parts)
    ),

    free as (
        select
            rollouts_path,
            arg_min(name, depth) as name
        from candidates
        where name not in (select run_id from known)
            and name in (select name from candidates group by name having count(*) = 1)
        group by rollouts_path
    ),

    names as (
        select
            parts.rollouts_path,
            coalesce(
                known.run_id, free.name, parts.parts[-1] || '-' || md5(parts.rollouts_path)[:8]
            ) as name,
            known.tags
        from parts
        left join free using (rollouts_path)
        left join known using (rollouts_path)
    )
{%- endmacro %}

{# Nothing to tell: Spark reads the paths of a batch from the vars, since no path of a query can be a variable. #}
{% macro spark__declare_batch() %}{% endmacro %}
