{# A fingerprint of everything that decides which runs are staged, and how. Staging keeps it, and marts compare it: a mart
   that is built alone must not take the batch of other vars for its own. #}
{% macro batch_hash() %}
    {%- set names = [
        'rollouts', 'inputs', 'run_id', 'allow_partial_rollouts', 'max_row_mb', 'pass_threshold', 'answer_field', 'slice_by',
        'prices', 'count_failure_classes_as_zero', 'count_missing_rollouts_as_zero', 'tags'
    ] -%}
    {%- set given = [env_var('SPOTTER_ROLLOUTS', '')] -%}
    {%- for name in names -%}{%- do given.append(var(name)) -%}{%- endfor -%}
    {{- return(local_md5(tojson(given))) -}}
{% endmacro %}
