with

-- how often the answer, and the pair of answer and reward, occurred so far
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
            partition by run_id, agent_name, task_index, answer, reward order by place
        ) as pair_count
    from {{ ref('int_scored_rollouts') }}
    where answer is not null
    window answers as (
        partition by run_id, agent_name, task_index, answer order by place
    )
),

led as (
    select
        *,
        max(answer_count) over so_far as answer_lead,
        max(pair_count) over so_far as pair_lead
    from counted
    window so_far as (partition by run_id, agent_name, task_index order by place)
),

-- An answer leads if its count equals the lead. It reaches that count at one place, so
-- the leaders are the places since the lead last grew whose count equals the lead.
votes as (
    select
        run_id,
        agent_name,
        task_index,
        place,
        avg(case when answer_count = answer_lead then answer_reward end) over (
            partition by run_id, agent_name, task_index, answer_lead order by place
        ) as majority,
        avg(case when pair_count = pair_lead then reward end) over (
            partition by run_id, agent_name, task_index, pair_lead order by place
        ) as gym_majority
    from led
)

select * from votes
