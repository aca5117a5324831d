{# A text as a literal. dbt renders what a hook returns once more, so no brace of the text may be left in it. #}
{% macro duckdb__text_literal(text) -%}
    ('{{ text | string | replace("'", "''") | replace("{", "' || chr(123) || '") }}')
{%- endmacro %}

{# A list of texts, each once, from a var that is a list, one text or nothing. #}
{% macro duckdb__text_list(given) -%}
    {%- set texts = ([given] if given is string else given or []) | unique | list -%}
    [{% for text in texts %}{{ duckdb__text_literal(text) }}{{ ', ' if not loop.last }}{% endfor %}]::varchar[]
{%- endmacro %}

{# The prices of models as a list of records, in money per million tokens. #}
{% macro duckdb__price_list(prices) -%}
    [
        {%- for model, price in prices.items() -%}
        {
            'model': {{ duckdb__text_literal(model) }},
            'input': {{ price['input'] | float }},
            'cached_input': {{ price['cached_input'] | float if 'cached_input' in price else 'null' }},
            'output': {{ price['output'] | float }}
        }{{ ', ' if not loop.last }}
        {%- endfor -%}
    ]::struct(model varchar, input double, cached_input double, output double)[]
{%- endmacro %}

{# A path as a pattern that matches only this path. #}
{% macro duckdb__glob_literal(path) -%}
    regexp_replace({{ path }}, '([*?\[])', '[\1]', 'g')
{%- endmacro %}

{# A path from the root, also if it is relative to the folder where dbt was started. #}
{% macro duckdb__full_path(path) -%}
    case
        when starts_with({{ path }}, '/') then {{ path }}
        else {{ duckdb__text_literal(env_var('PWD', '')) }} || '/' || {{ path }}
    end
{%- endmacro %}
