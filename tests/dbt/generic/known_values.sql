{# The runs of the batch have no other values in the column than these, or null. #}
{% test known_values(model, column_name, values) %}
    select distinct {{ column_name }}
    from {{ model }}
    where run_id in {{ batch_runs() }}
        and {{ column_name }} not in ('{{ values | join("', '") }}')
{% endtest %}
