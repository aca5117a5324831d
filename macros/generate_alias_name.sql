{# An exported mart has the name of its mart: bi_runs is written as runs. #}
{% macro generate_alias_name(custom_alias_name=none, node=none) %}
    {{- custom_alias_name or modules.re.sub('^bi_', '', node.name) -}}
{% endmacro %}
