{# C(beside, k - 1) / C(whole, k): how often one is chosen with k - 1 of those beside it; null if there are too few. #}
{% macro order_weight(beside, whole, k) -%}
    case
        when {{ beside }} >= {{ k }} - 1
            then exp({{ log_choose(beside, k ~ ' - 1') }} - {{ log_choose(whole, k) }})
    end
{%- endmacro %}
