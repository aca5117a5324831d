{# The sample standard deviation of the values of a group, as an aggregate in a fixed order. Two passes, as in pandas: exact
   where the one-pass formula loses digits. Nulls are left out; null below two values, and if it or the mean overflows. Equal
   values may give a rounding error instead of 0, as in pandas. #}
{% macro std_in_order(expression, order_by) -%}
    {{ return(adapter.dispatch('std_in_order')(expression, order_by)) }}
{%- endmacro %}

{# Lists of one element name the list and its mean: a lambda would compute an expression for every element. #}
{% macro duckdb__std_in_order(expression, order_by) -%}
    list_transform([list({{ expression }} order by {{ order_by | join(', ') }})], lambda items:
        list_transform([list_avg(items)], lambda mean:
            list_transform(
                [sqrt(
                    list_sum(list_transform(items, lambda x: (x - mean) * (x - mean)))
                    / nullif(list_count(items) - 1, 0)
                )],
                lambda std: {{ finite('std') }}
            )[1]
        )[1]
    )[1]
{%- endmacro %}

{% macro spark__std_in_order(expression, order_by) -%}
    get(transform(
        array(named_struct(
            'items', filter({{ spark__values_in_order(expression, order_by) }}, x -> x is not null),
            'mean', {{ mean_in_order(expression, order_by) }}
        )),
        part -> {{ finite("sqrt(
            aggregate(part.items, 0e0, (total, x) -> total + (x - part.mean) * (x - part.mean))
            / case when array_size(part.items) > 1 then array_size(part.items) - 1 end
        )") }}
    ), 0)
{%- endmacro %}
