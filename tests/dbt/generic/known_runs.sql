{# Every run of the batch that has rows here has its row in `runs`. #}
{% test known_runs(model) %}
    select distinct run_id
    from {{ model }}
    where run_id in {{ batch_runs() }}
        and run_id not in (select runs.run_id from {{ ref('runs') }} as runs)
{% endtest %}
