{%- set task = 'run_id, agent_name, task_index' -%}
{%- set leaders = 'run_id, agent_name, task_index, answer_lead order by place' -%}
{%- set pair_leaders = 'run_id, agent_name, task_index, pair_lead order by place' -%}
with

-- how often the answer, and the answer with its reward, has been given so far
counted as (
    select
        run_id,
        agent_name,
        task_index,
        place,
        reward,
        row_number() over answers as answer_count,
        avg(reward) over answers as answer_reward,
        row_number() over (
            partition by {{ task }}, answer, reward order by place
        ) as pair_count
    from {{ ref('int_scored_rollouts') }}
    where answer is not null
    window answers as (partition by {{ task }}, answer order by place)
),

led as (
    select
        *,
        max(answer_count) over so_far as answer_lead,
        max(pair_count) over so_far as pair_lead
    from counted
    window so_far as (partition by {{ task }} order by place)
),

-- An answer leads if its count equals the lead, which it reached at just one place: the
-- leaders so far are the places since the lead last grew at which a count equals it.
votes as (
    select
        run_id,
        agent_name,
        task_index,
        place,
        avg(case when answer_count = answer_lead then answer_reward end) over (
            partition by {{ leaders }}
        ) as majority,
        avg(case when pair_count = pair_lead then reward end) over (
            partition by {{ pair_leaders }}
        ) as gym_majority
    from led
)

select * from votes
