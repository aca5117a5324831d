"""The workflow of NeMo Gym's guide, as typed, with a model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest
import yaml

from collector.bundled_files import find_file
from tests.endpoints import EndpointFactory
from tests.gym import rows_of
from tests.programs import run_command
from tests.servers import (
    AGENT,
    OPENAI,
    SIMULATED,
    TASKS,
    WORKPLACE,
    example_row,
    get,
    post,
    running_gym,
)
from tests.support import Profiled
from tests.viewers import viewing

KEY = "test-key"


EXAMPLE = "resources_servers/workplace_assistant/data/example.jsonl"
ENVIRONMENT = Path("resources_servers", "workplace_assistant")
PROGRAM = "from nemo_gym.base_resources_server import SimpleResourcesServer\n"
RELAY = """
workplace_assistant_environment_server:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server: {type: responses_api_agents, name: workplace_assistant_simple_agent}
"""


def write_checkout(folder: Path) -> None:
    """Write a folder like a checkout of NeMo Gym, with its own tables and configs."""
    gym = Path(find_file(WORKPLACE)).parents[3]
    shutil.copytree(gym / ENVIRONMENT / "csv_data", folder / ENVIRONMENT / "csv_data")
    shutil.copytree(gym / ENVIRONMENT / "data", folder / ENVIRONMENT / "data")
    for path in (WORKPLACE, OPENAI):
        config = yaml.safe_load((gym / path).read_text(encoding="utf-8"))
        for server in config.values():
            for implementations in server.values():
                for settings in implementations.values():
                    settings["entrypoint"] = "app.py"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(yaml.safe_dump(config), encoding="utf-8")
        (folder / path).parent.with_name("app.py").write_text(PROGRAM, encoding="utf-8")
    with (folder / WORKPLACE).open("a", encoding="utf-8") as file:
        file.write(RELAY)
    tables = folder / ENVIRONMENT / "csv_data"
    (tables / "raw").mkdir()
    (tables / "processed" / "email_addresses.csv").rename(tables / "raw" / "email_addresses.csv")
    emails = tables / "processed" / "emails.csv"
    lines = emails.read_text(encoding="utf-8").splitlines(keepends=True)
    emails.write_text("".join(lines[:101]), encoding="utf-8")


@pytest.mark.parametrize(
    ("style", "place"), [("responses", "an empty folder"), ("chat", "a checkout")]
)
def test_the_guide_works_as_typed(
    start_endpoint: EndpointFactory, workspace: Path, style: str, place: str
) -> None:
    if place == "a checkout":
        write_checkout(workspace)
    endpoint = start_endpoint("--style", style)
    run = Profiled(workspace / "rollouts_output.jsonl")
    configs = (
        f"+config_paths=[{OPENAI},{WORKPLACE}]",
        f"+policy_base_url=http://127.0.0.1:{endpoint.port}/v1",
        f"+policy_api_key={KEY}",
        "+policy_model_name=openai/gpt-oss-120b",
    )
    with running_gym(*configs, cwd=workspace, command="ng_run") as gym:
        head = f"+head_server.port={gym.head_port}"
        collected = run_command(
            *("ng_collect_rollouts", f"+agent_name={AGENT}", f"+input_jsonl_fpath={EXAMPLE}"),
            *("+output_jsonl_fpath=rollouts_output.jsonl", "+limit=5", "+num_repeats=4"),
            *("+num_samples_in_parallel=10", head),
            "+responses_create_params={temperature: 0.7, max_tokens: 2048}",
            cwd=workspace,
        )
        assert collected.returncode == 0, collected.stderr
        assert "max_tokens is sent as max_output_tokens" in collected.stderr
        status = run_command("ng_status", head, "--json", cwd=workspace)
        assert [row["is_healthy"] for row in json.loads(status.stdout)] == [True] * 3
        dumped = run_command("ng_dump_config", head, cwd=workspace).stdout
        head_config = get(f"{gym.head}/global_config_dict_yaml").body
        url = gym.urls["workplace_assistant"]
        cookie = post(f"{url}/seed_session", example_row()).cookie
        found = post(f"{url}/email_search_emails", {}, cookie=cookie).body["output"]
    assert (found["pagination"]["total_emails"] == 100) == (place == "a checkout")
    with viewing("rollouts_output.jsonl", cwd=workspace, command="ng_viewer") as viewer:
        assert viewer.get(f"/?token={viewer.token}", follow_redirects=True).status_code == 200
    for command in ("ng_help", "ng_version"):
        assert run_command(command, cwd=workspace).returncode == 0
    rows = rows_of(run.rollouts)
    assert len(rows) == 20
    for row in rows:
        kinds = [item["type"] for item in row["response"]["output"]]
        assert kinds == ["function_call", "function_call_output", "message"]
        assert row["response"]["usage"]["total_tokens"] > 0
        assert row["reward"] == 0.0  # the endpoint calls only one tool, which is not enough
        assert row["responses_create_params"]["max_output_tokens"] == 2048
        assert "max_tokens" not in row["responses_create_params"]
    sent = endpoint.requests()[-1]["body"]
    assert sent["temperature"] == 0.7
    assert sent["max_output_tokens" if style == "responses" else "max_tokens"] == 2048
    assert "workplace_assistant_simple_agent" in dumped
    for text in (head_config, dumped, run.rollouts.read_text(encoding="utf-8")):
        assert KEY not in text


def test_bundled_tasks_do_not_replace_those_of_a_checkout(workspace: Path) -> None:
    """Judged on other tables, their verdicts would be wrong."""
    write_checkout(workspace)
    (workspace / TASKS).unlink()
    serve = ("spotter", "collect", "--serve", "-o", "out.jsonl", "-c", WORKPLACE, "-c", SIMULATED)
    named = ("spotter", "collect", "-a", AGENT, "-o", "out.jsonl", "-i", TASKS)
    for command in (serve, named):
        done = run_command(*command, cwd=workspace)
        assert done.returncode == 4
        assert "workplace_assistant has no data/train.jsonl" in done.stderr
        assert "belongs to other tables" in done.stderr
    (workspace / ENVIRONMENT / "csv_data" / "processed" / "emails.csv").unlink()
    tested = run_command("spotter", "test", str(ENVIRONMENT), "-i", EXAMPLE, cwd=workspace)
    assert tested.returncode == 2
    assert "emails.csv is missing" in tested.stderr


def test_the_self_test_of_a_checkout_tests_its_own_tables(workspace: Path) -> None:
    write_checkout(workspace)
    for command in (("ng_test",), ("ng_test", f"+entrypoint={ENVIRONMENT}")):
        done = run_command(*command, cwd=workspace)
        assert (done.returncode, done.stderr) == (0, "")
        assert "workplace_assistant: 5 tasks and 27 tools are fine" in done.stdout
    (workspace / EXAMPLE).unlink()
    done = run_command(*command, cwd=workspace)
    assert done.returncode == 2
    assert "give tasks with --input" in done.stderr


def test_the_limit_of_rows_is_sent_under_its_other_name_too(workspace: Path) -> None:
    row = example_row()
    row["responses_create_params"]["max_tokens"] = 300
    (workspace / "tasks.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with running_gym("-c", WORKPLACE, "-c", SIMULATED, cwd=workspace) as gym:
        command = ("spotter", "collect", "-a", AGENT, "-i", "tasks.jsonl", "-o", "out.jsonl")
        done = run_command(*command, "--head-port", str(gym.head_port), cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "max_tokens of 1 row is sent as max_output_tokens" in done.stderr
    (rollout,) = rows_of(workspace / "out.jsonl")
    assert rollout["responses_create_params"]["max_output_tokens"] == 300


def test_without_servers_the_commands_say_what_to_start(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for command in ("ng_status", "ng_dump_config"):
        done = run_command(command, f"+head_server.port={port}", cwd=workspace)
        assert done.returncode == 3
        assert "what to do: start" in done.stderr
        assert "spotter run" in done.stderr


def test_a_program_of_nemo_gym_is_named(workspace: Path) -> None:
    config = "judge: {resources_servers: {math_with_judge: {entrypoint: app.py}}}"
    place = workspace / "resources_servers" / "math_with_judge"
    (place / "configs").mkdir(parents=True)
    (place / "configs" / "judge.yaml").write_text(config, encoding="utf-8")
    for has_program in (False, True):
        if has_program:
            (place / "app.py").write_text(PROGRAM, encoding="utf-8")
        done = run_command("spotter", "run", "-c", str(place / "configs/judge.yaml"), cwd=workspace)
        assert done.returncode == 2
        assert "judge: math_with_judge is a program of NeMo Gym" in done.stderr
        assert "spotter collect" in done.stderr


@pytest.mark.parametrize(
    ("params", "named"),
    [("{max_tokens: 5, max_output_tokens: 6}", "are the same: give one of them")],
)
def test_a_limit_that_contradicts_itself_is_refused(
    workspace: Path, params: str, named: str
) -> None:
    command = ("spotter", "collect", "-a", AGENT, "-i", EXAMPLE, "-o", "out.jsonl")
    done = run_command(*command, f"+responses_create_params={params}", cwd=workspace)
    assert done.returncode == 2
    assert named in done.stderr


def test_an_empty_key_is_pointed_out(workspace: Path) -> None:
    settings = (
        "+policy_base_url=http://127.0.0.1:1/v1",
        "+policy_model_name=m",
        "+policy_api_key=",
    )
    configs = f"+config_paths=[{OPENAI},{WORKPLACE}]"
    with running_gym(configs, *settings, cwd=workspace, command="ng_run") as gym:
        pass
    assert gym.errors.count("openai_api_key is empty") == 1


def test_a_model_that_fails_is_a_failed_rollout_with_a_reason_on_both_terminals(
    start_endpoint: EndpointFactory, workspace: Path
) -> None:
    row = example_row()
    for tool in row["responses_create_params"]["tools"]:
        tool["database"] = "emails"
    (workspace / "tools.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    endpoint = start_endpoint("--style", "chat")
    settings = "policy_model.responses_api_models.openai_model"
    with running_gym(
        f"+config_paths=[{WORKPLACE},{OPENAI}]",
        f"+policy_base_url=http://127.0.0.1:{endpoint.port}/v1",
        *("+policy_api_key=sk-wrong-0123456789", "+policy_model_name=m"),
        *(f"++{settings}.max_retries=0", f"++{settings}.api=chat_completions"),
        cwd=workspace,
        command="ng_run",
    ) as gym:
        base = ("spotter", "collect", "-a", AGENT, "--head-port", str(gym.head_port))
        tools = run_command(*base, "-i", "tools.jsonl", "-o", "tools_out.jsonl", cwd=workspace)
        limits = ("--limit", "1", "-n", "2", "--max-attempts", "1")
        done = run_command(*base, "-i", TASKS, "-o", "out.jsonl", *limits, cwd=workspace)
    assert "HTTP 422" in tools.stderr
    refused = "Extra inputs are not permitted: tools.0.database (and 26 more like it)"
    for cause, stderr in ((refused, tools.stderr), ("Incorrect API key provided", done.stderr)):
        assert stderr.count(cause) == 1
        assert gym.errors.count(cause) == 1
    assert "sk-wrong" not in done.stderr + gym.errors
    assert done.returncode == 3
    failure, _ = rows_of(workspace / "out_failures.jsonl")
    assert failure["_ng_failure_class"] == "agent_run_error"
    assert "answered 401" in failure["_ng_failure_response_body"]
    assert "sk-wrong" not in json.dumps(failure)
