{# A text as a literal. dbt renders what a hook returns once more, so no brace of the text may be left in it. #}
{% macro spark__text_literal(text) -%}
    '{{ text | string | replace("\\", "\\\\") | replace("'", "\\'") | replace("{", "\\u007b") }}'
{%- endmacro %}

{# A list of texts, each once, from a var that is a list, one text or nothing. #}
{% macro spark__text_list(given) -%}
    {%- set texts = ([given] if given is string else given or []) | unique | list -%}
    cast(array({% for text in texts %}{{ spark__text_literal(text) }}{{ ', ' if not loop.last }}{% endfor %}) as array<string>)
{%- endmacro %}

{# The prices of models as a list of records, in money per million tokens. #}
{% macro spark__price_list(prices) -%}
    {%- set records = [] -%}
    {%- for model, price in prices.items() -%}
        {%- do records.append({
            'model': model | string, 'input': price['input'] | float,
            'cached_input': price['cached_input'] | float if 'cached_input' in price else none, 'output': price['output'] | float
        }) -%}
    {%- endfor -%}
    from_json(
        {{ spark__text_literal(tojson(records)) }},
        'array<struct<model string, input double, cached_input double, output double>>'
    )
{%- endmacro %}

{# A path or a pattern of the file system between quotes of Spark: a backslash before a character makes it a plain one. #}
{% macro spark__glob_literal(path) -%}
    `{{ path | replace("`", "``") }}`
{%- endmacro %}

{# A path from the root, also if it is relative to the folder where dbt was started. A URI stays as it is. #}
{% macro spark__full_path(path) -%}
    {%- set is_full = path.startswith('/') or '://' in path -%}
    {{- return(path if is_full else env_var('PWD', '') ~ '/' ~ path) -}}
{%- endmacro %}
