{# A bound of the interval of a difference of paired shares, by Newcombe's score method (his method 10): tasks that both
   runs passed, that only the first passed (lost), that only the second passed (gained); sign is '-' or '+'. #}
{% macro newcombe_bound(kept, lost, gained, count, z, sign) -%}
    {%- set first = '((' ~ kept ~ ' + ' ~ lost ~ ') / cast(' ~ count ~ ' as double))' -%}
    {%- set second = '((' ~ kept ~ ' + ' ~ gained ~ ') / cast(' ~ count ~ ' as double))' -%}
    {%- if sign == '-' -%}
        {%- set near = '(' ~ second ~ ' - ' ~ wilson_limit(second, count, z, '-') ~ ')' -%}
        {%- set far = '(' ~ wilson_limit(first, count, z, '+') ~ ' - ' ~ first ~ ')' -%}
    {%- else -%}
        {%- set near = '(' ~ wilson_limit(second, count, z, '+') ~ ' - ' ~ second ~ ')' -%}
        {%- set far = '(' ~ first ~ ' - ' ~ wilson_limit(first, count, z, '-') ~ ')' -%}
    {%- endif -%}
    {{ second }} - {{ first }} {{ sign }} sqrt(greatest(
        0e0,
        power({{ near }}, 2) - 2 * {{ paired_correlation(kept, lost, gained, count) }} * {{ near }} * {{ far }}
        + power({{ far }}, 2)
    ))
{%- endmacro %}

{# The correlation of both shares, corrected towards 0 as Newcombe does. #}
{% macro paired_correlation(kept, lost, gained, count) -%}
    {%- set neither = '(' ~ count ~ ' - ' ~ kept ~ ' - ' ~ lost ~ ' - ' ~ gained ~ ')' -%}
    {%- set product = '(1e0 * ' ~ kept ~ ' * ' ~ neither ~ ' - 1e0 * ' ~ lost ~ ' * ' ~ gained ~ ')' -%}
    coalesce(
        case
            when {{ product }} > {{ count }} / 2e0 then {{ product }} - {{ count }} / 2e0
            when {{ product }} < 0 then {{ product }}
            else 0e0
        end / nullif(sqrt(
            1e0 * ({{ kept }} + {{ lost }}) * ({{ gained }} + {{ neither }})
            * ({{ kept }} + {{ gained }}) * ({{ lost }} + {{ neither }})
        ), 0),
        0e0
    )
{%- endmacro %}
