{% macro duckdb__next_look(walks, outcomes, rules) -%}
    select
        bound,
        rollout_count,
        hit_count,
        chance,
        is_beaten,
        coalesce(max(case when is_beaten then spent + tail end) over (partition by bound), spent)
            as spent
    from (
        select
            *,
            spent + tail <= error_limit * rollout_count / (rollout_count + 4e0) as is_beaten
        from (
            select
                *,
                sum(chance) over (partition by bound order by hit_count desc) as tail
            from (
                select
                    {{ walks }}.bound,
                    {{ walks }}.rollout_count + 1 as rollout_count,
                    {{ walks }}.hit_count + {{ outcomes }}.hit as hit_count,
                    sum(
                        {{ walks }}.chance
                        * case when {{ outcomes }}.hit = 1 then {{ walks }}.bound else 1 - {{ walks }}.bound end
                    ) as chance,
                    max({{ walks }}.spent) as spent,
                    max({{ rules }}.error_limit) as error_limit
                from {{ walks }}
                cross join {{ outcomes }}
                inner join {{ rules }} on {{ walks }}.rollout_count < {{ rules }}.most_rollouts
                where not {{ walks }}.is_beaten
                group by
                    {{ walks }}.bound,
                    {{ walks }}.rollout_count,
                    {{ walks }}.hit_count + {{ outcomes }}.hit
            ) as stepped
        ) as summed
    ) as judged
{%- endmacro %}
