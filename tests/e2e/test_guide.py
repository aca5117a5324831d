"""The workflow of NeMo Gym's guide, as typed, with a model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.endpoints import EndpointFactory
from tests.gym import rows_of
from tests.servers import AGENT, OPENAI, TASKS, WORKPLACE, get, running
from tests.support import Profiled, run_command

KEY = "test-key"


@pytest.mark.parametrize("style", ["responses", "chat"])
def test_the_guide_works_as_typed(
    start_endpoint: EndpointFactory, workspace: Path, style: str
) -> None:
    endpoint = start_endpoint("--style", style)
    run = Profiled(workspace / "rollouts.jsonl")
    model = (
        f"+policy_base_url=http://127.0.0.1:{endpoint.port}/v1",
        f"+policy_api_key={KEY}",
        "+policy_model_name=served",
    )
    configs = f"+config_paths=[{WORKPLACE},{OPENAI}]"
    with running(configs, *model, cwd=workspace, command="ng_run") as gym:
        head = f"+head_server.port={gym.head_port}"
        status = run_command("ng_status", head, "--json", cwd=workspace)
        assert [row["is_healthy"] for row in json.loads(status.stdout)] == [True] * 3
        collected = run_command(
            *("ng_collect_rollouts", f"+agent_name={AGENT}", f"+input_jsonl_fpath={TASKS}"),
            *("+output_jsonl_fpath=rollouts.jsonl", "+limit=5", "+num_repeats=4", head),
            *("+num_samples_in_parallel=10", "+responses_create_params={temperature: 0.7}"),
            cwd=workspace,
        )
        assert collected.returncode == 0, collected.stderr
        told = get(f"{gym.head}/global_config_dict_yaml").body
    profiled = run_command(
        *("ng_reward_profile", "+rollouts_jsonl_fpath=rollouts.jsonl"),
        "+materialized_inputs_jsonl_fpath=rollouts_materialized_inputs.jsonl",
        cwd=workspace,
    )
    assert profiled.returncode == 0, profiled.stderr
    dumped = run_command("ng_dump_config", configs, *model, cwd=workspace)
    rows = rows_of(run.rollouts)
    assert len(rows) == 20
    for row in rows:
        kinds = [item["type"] for item in row["response"]["output"]]
        assert kinds == ["function_call", "function_call_output", "message"]
        assert row["response"]["usage"]["total_tokens"] > 0
        assert row["response"]["model"] == "served"
        assert row["reward"] == 0.0  # it calls one tool, and that is not enough
    sent = endpoint.requests()[-1]
    assert sent["body"]["temperature"] == 0.7
    for text in (told, dumped.stdout, run.rollouts.read_text(encoding="utf-8")):
        assert KEY not in text


def test_a_model_that_fails_is_a_failed_rollout_with_a_reason(
    start_endpoint: EndpointFactory, workspace: Path
) -> None:
    endpoint = start_endpoint("--style", "chat")
    settings = "policy_model.responses_api_models.openai_model"
    with running(
        f"+config_paths=[{WORKPLACE},{OPENAI}]",
        f"+policy_base_url=http://127.0.0.1:{endpoint.port}/v1",
        *("+policy_api_key=sk-wrong-0123456789", "+policy_model_name=m"),
        *(f"++{settings}.max_retries=0", f"++{settings}.api=chat_completions"),
        cwd=workspace,
        command="ng_run",
    ) as gym:
        done = run_command(
            *("spotter", "collect", "-a", AGENT, "-i", TASKS, "-o", "out.jsonl", "--limit", "1"),
            *("--head-port", str(gym.head_port), "--max-attempts", "1"),
            cwd=workspace,
        )
    assert done.returncode == 3
    (failure,) = rows_of(workspace / "out_failures.jsonl")
    assert failure["_ng_failure_class"] == "agent_run_error"
    assert "answered 401" in failure["_ng_failure_response_body"]
    assert "sk-wrong" not in json.dumps(failure)
