{# The prices of models as a list of records, in money per million tokens. #}
{% macro price_list(prices) -%}
    [
        {%- for model, price in prices.items() -%}
        {
            'model': {{ quoted(model) }},
            'input': {{ price['input'] | float }},
            'cached_input': {{ price.get('cached_input', price['input']) | float }},
            'output': {{ price['output'] | float }}
        }{{ ', ' if not loop.last }}
        {%- endfor -%}
    ]::struct(model varchar, input double, cached_input double, output double)[]
{%- endmacro %}
