{# Every two of the runs of `compare`, the earlier one as the baseline, with the settings of the comparison. #}
{% macro compared_pairs() -%}
    {%- set pairs = [] -%}
    {%- for baseline in var('compare') or [] -%}
        {%- for candidate in var('compare')[loop.index:] -%}
            {%- do pairs.append({
                'baseline_run_id': baseline | string, 'candidate_run_id': candidate | string,
                'alpha': var('compare_alpha') | float,
                'margin': none if var('compare_margin') is none else var('compare_margin') | float,
                'cluster_by': var('compare_cluster_by') or none,
                'is_fixed_suite': (var('compare_fixed_suite') | string | lower) == 'true'
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(pairs) }}
{%- endmacro %}
