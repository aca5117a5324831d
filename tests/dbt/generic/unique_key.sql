{# Every row has a key, and no two rows share one. In a mart, only the runs of the batch are looked at. #}
{% test unique_key(model, columns) %}
    select
        {{ columns | join(', ') }},
        count(*) as row_count
    from {{ model }}
    {% if 'run_id' in columns %}where run_id is null or run_id in {{ batch_runs() }}{% endif %}
    group by {{ columns | join(', ') }}
    having count(*) > 1 or {{ columns | join(' is null or ') }} is null
{% endtest %}
