{# The mean of the values of a group, as an aggregate. Sums of doubles depend on their order, so it names one: columns that
   tell the rows of a group apart. Nulls are left out; null if nothing is left, or if the mean overflows. #}
{% macro mean_in_order(expression, order_by) -%}
    {{ return(adapter.dispatch('mean_in_order')(expression, order_by)) }}
{%- endmacro %}

{# An average of a list, and not `avg(… order by …)`: equal lists in one select, as those of `std_in_order`, are made and sorted
   once. #}
{% macro duckdb__mean_in_order(expression, order_by) -%}
    {{ finite('list_avg(list(' ~ expression ~ ' order by ' ~ order_by | join(', ') ~ '))') }}
{%- endmacro %}

{% macro spark__mean_in_order(expression, order_by) -%}
    aggregate(
        {{ spark__values_in_order(expression, order_by) }},
        named_struct('total', 0e0, 'number', 0),
        (so_far, item) -> named_struct(
            'total', so_far.total + coalesce(cast(item as double), 0e0),
            'number', so_far.number + case when item is null then 0 else 1 end
        ),
        so_far -> {{ finite('(so_far.total / nullif(so_far.number, 0))') }}
    )
{%- endmacro %}

{# The values of a group as a list in a fixed order, of which the ordered aggregates are made. `collect_list` alone would drop
   nulls; the places make the order total, so that no value is compared. #}
{% macro spark__values_in_order(expression, order_by) -%}
    transform(
        array_sort(collect_list(struct(
            {%- for column in order_by -%}{{ column }} as place_{{ loop.index }}, {% endfor -%}
            {{ expression }} as item
        ))),
        entry -> entry.item
    )
{%- endmacro %}
