{# Tell the comparison models which runs to compare: every two of `compare`, the earlier one as the baseline.
   `spotter compare` sets the same variable itself. #}
{% macro duckdb__declare_comparisons() %}
    {%- set runs = var('compare') or [] -%}
    {%- set cluster_by = duckdb__text_literal(var('compare_cluster_by')) if var('compare_cluster_by') else 'null' -%}
    set variable spotter_comparisons = [
        {%- for baseline in runs -%}
        {%- for candidate in runs[loop.index:] -%}
        {
            'baseline_run_id': {{ duckdb__text_literal(baseline) }},
            'baseline_agent_name': null,
            'candidate_run_id': {{ duckdb__text_literal(candidate) }},
            'candidate_agent_name': null,
            'alpha': {{ var('compare_alpha') | float }},
            'margin': {{ 'null' if var('compare_margin') is none else var('compare_margin') | float }},
            'cluster_by': {{ cluster_by }},
            'is_fixed_suite': {{ (var('compare_fixed_suite') | string | lower) == 'true' }}
        },
        {%- endfor -%}
        {%- endfor -%}
    ]::struct(
        baseline_run_id varchar, baseline_agent_name varchar, candidate_run_id varchar, candidate_agent_name varchar,
        alpha double, margin double, cluster_by varchar, is_fixed_suite boolean
    )[];
{% endmacro %}
