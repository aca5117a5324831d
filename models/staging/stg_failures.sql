with

runs as (
    select * from {{ ref('stg_runs') }}
),

lines as (
    select
        runs.run_id,
        {{ json_integer(map_field('lines.fields', '_ng_task_index')) }}
            as task_index,
        {{ json_integer(map_field('lines.fields', '_ng_rollout_index')) }}
            as rollout_index,
        {{ json_text_field(map_field('lines.fields', 'agent_ref'), 'name') }}
            as agent_name,
        nullif({{ json_text(map_field('lines.fields', '_ng_failure_class')) }}, '')
            as given_class,
        {{ json_integer(map_field('lines.fields', '_ng_failure_status')) }}
            as status,
        {{ map_field('lines.fields', '_ng_failure_terminal') }} as is_terminal,
        {{ json_integer(map_field('lines.fields', '_ng_attempt_index')) }} as attempt,
        {{ map_field('lines.fields', 'reward') }} as reward
    from {{ read_rows('failures') }} as lines
    inner join runs on lines.file_path = runs.failures_file
),

-- classes by NeMo Gym's names; files of earlier versions have others
failures as (
    select
        run_id,
        task_index,
        rollout_index,
        agent_name,
        case
            when given_class = 'timeout' then 'transport_timeout'
            when given_class = 'connection' then 'transport_peer_drop'
            when given_class in ('bad_response', 'agent_failure') then 'agent_run_error'
            when given_class not in ('http_4xx', 'http_5xx') then given_class
            when given_class is null then '(unknown)'
            when status in (429, 502, 503, 504) then 'agent_request_failed'
            else 'agent_run_error'
        end as failure_class,
        coalesce({{ entry_number('is_terminal') }} = 1, false) as is_terminal,
        given_class,
        coalesce(attempt, 0) as attempt,
        {{ finite(entry_number('reward')) }} as reward,
        task_index is not null and rollout_index is not null as is_readable
    from lines
)

select * from failures
