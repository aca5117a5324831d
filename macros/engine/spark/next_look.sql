{# Spark cannot aggregate inside of a recursion. There are no walks to continue: `declared_stopping_rules` is empty. #}
{% macro spark__next_look(walks, outcomes, rules) -%}
    select
        bound,
        rollout_count + 1 as rollout_count,
        hit_count,
        chance,
        is_beaten,
        spent
    from {{ walks }}
    where false
{%- endmacro %}
