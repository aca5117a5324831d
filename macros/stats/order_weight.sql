{# C(beside, k - 1) / C(whole, k): the chance that a choice of k has a given value and k - 1 of those
   beside it. Null if there are too few. #}
{% macro order_weight(beside, whole, k) -%}
    case
        when {{ beside }} >= {{ k }} - 1
            then exp({{ log_choose(beside, k ~ ' - 1') }} - {{ log_choose(whole, k) }})
    end
{%- endmacro %}
