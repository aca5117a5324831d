with

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
            when http_status in (429, 502, 503, 504) then 'agent_request_failed'
            else 'agent_run_error'
        end as failure_class,
        coalesce({{ metric_number('is_terminal') }} = 1, false) as is_terminal,
        given_class,
        coalesce(attempt, 0) as attempt,
        {{ finite(metric_number('reward')) }} as reward,
        task_index is not null and rollout_index is not null as is_readable
    from {{ ref('base_failures') }}
)

select * from failures
