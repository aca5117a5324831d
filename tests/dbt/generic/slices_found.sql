{% test slices_found(model) %}
    select slice_by
    from {{ model }}
    where slice_by != 'all'
    group by slice_by
    having min(slice_value) = '(none)' and max(slice_value) = '(none)'
{% endtest %}
