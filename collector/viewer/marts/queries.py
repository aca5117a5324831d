"""The queries of the pages: they select from marts, and compute no statistics themselves."""

from collector.profiling import headlines

RUNS = """
    select
        runs.* replace (
            array_to_string(list_transform(
                json_keys(runs.tags),
                lambda name: name || '=' || json_extract_string(runs.tags, '$."' || name || '"')
            ), ', ') as tags
        ),
        masks.kinds as mask_kinds
    from run_overviews as runs
    left join (
        select
            run_id, agent_name,
            list(
                {failure_kind: failure_kind, rollout_count: rollout_count}
                order by rollout_count desc, failure_kind
            ) as kinds
        from mask_kinds
        group by run_id, agent_name
    ) as masks using (run_id, agent_name)
"""
# a run that was profiled before the threshold existed uses 1
RUN = """
    select * replace (coalesce(pass_threshold, 1) as pass_threshold)
    from runs where run_id = $run
"""
SCORES = """
    select * from agent_scores
    where run_id = $run and agent_name = $agent and slice_by = 'all'
    order by {order}
"""
SPREADS = """
    select * from reward_spreads
    where run_id = $run and agent_name = $agent and (is_threshold_doubtful or is_constant)
    order by slice_by != 'all', slice_by, slice_value
"""
RELIABILITY = """
    select * from agent_reliability where run_id = $run and agent_name = $agent
"""
BANDS = headlines.BANDS.format(schema="", condition="run_id = $run and agent_name = $agent")
FAILURES = """
    select * from failure_classes where run_id = $run and agent_name = $agent
    order by attempt_count desc, failure_class
"""
HEALTH = headlines.HEALTH.format(schema="", condition="run_id = $run and agent_name = $agent")
MASK_KINDS = """
    select failure_kind, rollout_count, task_count, example_reason
    from mask_kinds where run_id = $run and agent_name = $agent
    order by rollout_count desc, failure_kind
"""
RUN_MASKS = """
    select failure_kind, sum(rollout_count)::bigint as rollout_count
    from mask_kinds where run_id = $run
    group by failure_kind
    order by rollout_count desc, failure_kind
"""
EFFORTS = """
    select * from agent_efforts where run_id = $run and agent_name = $agent
"""
GYM_VERDICTS = """
    select gym_verdict, count(*) as rollout_count
    from rollout_health
    where run_id = $run and agent_name = $agent and gym_verdict is not null
    group by gym_verdict
    order by gym_verdict
"""
LENGTH = """
    select * from reward_by_length where run_id = $run and agent_name = $agent
"""
HISTOGRAM = """
    select bin_index, bin_low, bin_high, is_single_value, rollout_count, rollout_ratio
    from metric_histograms
    where run_id = $run and agent_name = $agent and metric = 'reward'
    order by bin_index
"""
TASK_RATES = """
    with ranked as (
        select
            row_number() over (order by pass_ratio desc, pass_low desc, task_index) as rank,
            count(*) over () as task_count,
            task_index, rollout_count, pass_count, pass_ratio, pass_low, pass_high, band
        from task_bands
        where run_id = $run and agent_name = $agent and pass_ratio is not null
    )
    select * from ranked
    where (rank - 1) % greatest(1, ceil(task_count / $ranks)::bigint) = 0
    order by rank
"""
ATTEMPTS = """
    select
        k, task_count,
        pass_at_k, pass_at_k_low, pass_at_k_high,
        pass_hat_k, pass_hat_k_low, pass_hat_k_high,
        majority_at_k, max_at_k
    from pass_at_k
    where run_id = $run and agent_name = $agent and slice_by = 'all' and pass_at_k is not null
    order by k
"""
POINTS = """
    select task_index, rollout_index, output_tokens, reward
    from rollout_infos
    where run_id = $run and agent_name = $agent
        and output_tokens is not null and reward is not null
    order by hash(task_index, rollout_index), task_index, rollout_index
    limit $points
"""
SLICES = """
    select slice_by, slice_value, value, low, high, task_count, rollout_count
    from agent_scores
    where run_id = $run and agent_name = $agent and slice_by != 'all' and score = 'mean_reward'
    order by slice_by, slice_value
"""
TASKS = """
    select
        bands.task_index, bands.agent_name, bands.task_id,
        bands.rollout_count, bands.pass_ratio, bands.pass_low, bands.pass_high,
        bands.band, bands.learnability, bands.reward_mean, bands.reward_std,
        bands.output_tokens_mean, profiles.total_tokens_mean, profiles.missing_rollout_count,
        profiles.masked_rollout_count
    from task_bands as bands
    left join task_profiles as profiles
        on bands.run_id = profiles.run_id and bands.task_index = profiles.task_index
        and bands.agent_name = profiles.agent_name
    where bands.run_id = $run
"""
PROMPTS = "select task_index, agent_name, prompt from task_profiles where run_id = $run"
NAMES = """
    select task_index, agent_name, task_name from task_profiles
    where run_id = $run and task_name is not null
"""
TASK_WORDS = """
    select task_name, left(prompt, 600) as prompt, sample from task_profiles
    where run_id = $run and task_index = $task and agent_name is not distinct from $agent
"""
STRIPS = """
    select
        task_index, agent_name,
        list(
            {
                rollout: rollout_index,
                reward: reward,
                is_masked: is_measured is false,
                failure_kind: failure_kind
            }
            order by rollout_index
        ) as rollouts
    from rollout_infos
    where run_id = $run and list_contains($tasks, task_index)
    group by task_index, agent_name
"""
# rollout_health has no rows for masked rollouts
ROLLOUT_SOURCE = """
    from rollout_infos as infos
    left join rollout_health as health
        on infos.run_id = health.run_id and infos.task_index = health.task_index
        and infos.rollout_index = health.rollout_index
    where infos.run_id = $run
"""
ROLLOUT_COLUMNS = """
        infos.task_index, infos.rollout_index, infos.agent_name, infos.reward,
        infos.is_measured is false as is_masked,
        infos.input_tokens, infos.output_tokens, infos.total_tokens, health.finding_count,
        health.is_output_empty, health.is_truncated, health.is_usage_missing,
        health.is_response_repeated, health.is_verdict_inconsistent,
        health.is_ground_truth_suspect, health.is_reward_contradicted,
        health.is_tool_call_open, health.is_final_answer_empty, health.is_turn_limit_reached,
        health.is_failure_reported,
        health.is_passing, health.gym_verdict
""".rstrip()
FAILURE_KIND = """
        case
            when infos.is_measured is false then coalesce(infos.failure_kind, '(unknown)')
            else infos.failure_kind
        end as failure_kind
""".rstrip()
ROLLOUT_ROWS = f"""
    select{ROLLOUT_COLUMNS}{ROLLOUT_SOURCE}"""
ANSWERS = "select task_index, rollout_index, answer from rollout_health where run_id = $run"
FAILURE_TEXTS = f"""
    select
        infos.task_index, infos.rollout_index, infos.failure_reason,{FAILURE_KIND}
    from rollout_infos as infos where infos.run_id = $run
"""
# the reward of a masked rollout does not count, but its `info` keeps it as written
ROLLOUTS = f"""
    select{ROLLOUT_COLUMNS},{FAILURE_KIND},
        infos.failure_reason, health.answer, health.gym_findings,
        infos.model_name, infos.turn_count, infos.tool_call_count,
        infos.latency_ms, infos.cost, infos.cached_tokens, infos.reasoning_tokens,
        left(infos.info ->> '$.reward', 100) as written_reward{ROLLOUT_SOURCE}"""
# if a run has the same task several times, the first one pairs with the first one, and so on
SHARED_TASKS = """
    with numbered as (
        select
            *,
            row_number() over (
                partition by run_id, agent_name, task_id order by task_index
            ) as copy_number
        from task_bands
    )
    select
        first.task_id, first.task_index as first_task, second.task_index as second_task,
        first.pass_ratio as first_pass, second.pass_ratio as second_pass,
        first.reward_mean as first_reward, second.reward_mean as second_reward,
        second.reward_mean - first.reward_mean as change,
        abs(second.reward_mean - first.reward_mean) as change_size
    from numbered as first
    inner join numbered as second
        on first.task_id = second.task_id and first.copy_number = second.copy_number
    where first.run_id = $first and first.agent_name = $first_agent
        and second.run_id = $second and second.agent_name = $second_agent
"""
FIRST_PROMPTS = """
    select task_index as first_task, prompt from task_profiles
    where run_id = $first and agent_name = $first_agent
"""
ROLLOUT = f"""{ROLLOUTS.rstrip()}
        and infos.task_index = $task and infos.rollout_index = $rollout
"""
# first one rollout per task: broken rollouts, then failures of learnable tasks; a repeated response
# is not a reason to read a rollout; masked rollouts come last
WORTH_READING = """
    with judged as (
        select
            infos.task_index, infos.rollout_index, infos.reward, bands.learnability,
            infos.is_measured is false as is_masked,
            health.finding_count
            - (health.is_response_repeated and health.is_passing is not true)::int as fault_count,
            coalesce(infos.reward < coalesce(runs.pass_threshold, 1), true) as is_failed
        from rollout_infos as infos
        inner join runs on infos.run_id = runs.run_id
        left join rollout_health as health
            on infos.run_id = health.run_id and infos.task_index = health.task_index
            and infos.rollout_index = health.rollout_index
        left join task_bands as bands
            on infos.run_id = bands.run_id and infos.task_index = bands.task_index
            and infos.agent_name = bands.agent_name
        where infos.run_id = $run and ($agent is null or infos.agent_name = $agent)
    )
    select
        task_index, rollout_index,
        row_number() over (
            partition by task_index, is_masked
            order by fault_count desc, reward nulls first, rollout_index
        ) as place
    from judged
    order by
        is_masked, place, fault_count desc, is_failed desc, learnability desc nulls last,
        task_index
    limit $count
"""
