{# The cost of a rollout, from prices per million tokens. Null without a price or without token counts. #}
{% macro rollout_cost(input_tokens, cached_tokens, output_tokens, input_price, cached_price, output_price) -%}
    {%- set cached = 'least(coalesce(' ~ cached_tokens ~ ', 0), ' ~ input_tokens ~ ')' -%}
    (
        ({{ input_tokens }} - {{ cached }}) * {{ input_price }}
        + {{ cached }} * {{ cached_price }}
        + {{ output_tokens }} * {{ output_price }}
    ) / 1e6
{%- endmacro %}
