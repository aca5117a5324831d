{% test complete_runs(model) %}
    select * from {{ model }}
    where missing_rollout_count > 0
        and run_id in {{ batch_runs() }}
{% endtest %}
