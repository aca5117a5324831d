{# The figures of a task's first k rollouts. #}
{% macro k_figures() %}
    {{- return(carried_figures() + plain_figures() + ['pass_at_k', 'pass_hat_k', 'is_last']) -}}
{% endmacro %}

{# If a task has fewer than k rollouts, NeMo Gym takes all it has: its last figure counts for larger k too. #}
{% macro carried_figures() %}
    {{- return([
        'reward_average', 'reward_deviation', 'lacking_average', 'lacking_deviation', 'gym_majority'
    ]) -}}
{% endmacro %}

{% macro plain_figures() %}
    {{- return(['reward', 'lacks_answer', 'majority', 'gym_pass', 'lacking_chance']) -}}
{% endmacro %}

{# The sum of each figure over the tasks with k rollouts. For carried figures, also the sum over the tasks whose
   last rollout is the k-th. #}
{% macro k_sums(tasks) %}
    {%- for figure in carried_figures() %}
        {{- list_sum(list_field(tasks, figure, 'is_last')) }} as {{ figure }}_last,
        {% endfor %}
    {%- for figure in carried_figures() + plain_figures() %}
        {{- list_sum(list_field(tasks, figure)) }} as {{ figure }}_sum{{ ',\n        ' if not loop.last }}
    {%- endfor %}
{% endmacro %}

{# The sums with the last figures of the tasks that have fewer than k rollouts. #}
{% macro carried_sums(smaller) %}
    {%- for figure in carried_figures() %}
        {{- figure }}_sum + coalesce(sum({{ figure }}_last) over {{ smaller }}, 0) as {{ figure }}_sum,
        {% endfor %}
    {%- for figure in plain_figures() %}
        {{- figure }}_sum{{ ',\n        ' if not loop.last }}
    {%- endfor %}
{% endmacro %}
