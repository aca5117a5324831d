{# The mean of a task's rollouts if each of its unknown ones had the given value. #}
{% macro filled_mean(mean, known_count, unknown_count, value) -%}
    (coalesce({{ mean }}, 0) * {{ known_count }} + {{ value }} * {{ unknown_count }})
    / nullif({{ known_count }} + {{ unknown_count }}, 0)
{%- endmacro %}
