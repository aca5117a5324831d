{% test complete_runs(model) %}
    select * from {{ model }} where missing_rollout_count > 0
{% endtest %}
