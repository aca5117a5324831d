{# The sample variance of single rollouts that pass or fail; null for fewer than two. #}
{% macro pass_variance(passes, rollouts) -%}
    case
        when {{ rollouts }} > 1
            then 1e0 * {{ passes }} * ({{ rollouts }} - {{ passes }}) / ({{ rollouts }} * ({{ rollouts }} - 1e0))
    end
{%- endmacro %}
