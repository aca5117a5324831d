with

-- the inputs ask for settings; what the responses report counts where no input does
reported as (
    select distinct
        run_id,
        sampling,
        1 as source
    from {{ ref('stg_samples') }}
    union all
    select distinct
        run_id,
        sampling,
        2 as source
    from {{ ref('stg_rollouts') }}
),

entries as (
    select
        run_id,
        source,
        {{ rows_of('sampling') }}
    from reported
),

-- not where the lists become rows: DuckDB would take the distinct of the other columns
chosen as (
    select distinct
        run_id,
        setting,
        value
    from entries
    qualify source = min(source) over (partition by run_id, setting)
),

listed as (
    select
        run_id,
        setting,
        case
            when count(*) = 1 then min(value)
            when count(*) <= 5
                then '[' || {{ text_in_order('value', ['value']) }} || ']'
            else '"varied"'
        end as value
    from chosen
    group by
        run_id,
        setting
),

sampling as (
    select
        run_id,
        '{' || {{ text_in_order(
            "'\"' || setting || '\":' || value", ['setting']
        ) }} || '}' as sampling
    from listed
    group by run_id
)

select * from sampling
