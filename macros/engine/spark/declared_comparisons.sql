{# The pairs of runs to compare: every two of `compare`, the earlier one as the baseline. #}
{% macro spark__declared_comparisons() -%}
    {%- set runs = var('compare') or [] -%}
    {%- set pairs = [] -%}
    {%- for baseline in runs -%}
        {%- for candidate in runs[loop.index:] -%}
            {%- do pairs.append({
                'baseline_run_id': baseline | string, 'candidate_run_id': candidate | string,
                'alpha': var('compare_alpha') | float,
                'margin': none if var('compare_margin') is none else var('compare_margin') | float,
                'cluster_by': var('compare_cluster_by') or none,
                'is_fixed_suite': (var('compare_fixed_suite') | string | lower) == 'true'
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    select inline(from_json(
        {{ spark__text_literal(tojson(pairs)) }},
        'array<struct<
            baseline_run_id string, baseline_agent_name string, candidate_run_id string, candidate_agent_name string,
            alpha double, margin double, cluster_by string, is_fixed_suite boolean
        >>'
    ))
{%- endmacro %}
