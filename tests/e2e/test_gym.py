"""The embedded gym: real servers in a child process, on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from tests.gym import rows_of, wait_for_lines
from tests.programs import run_command
from tests.servers import (
    AGENT,
    BUNDLED,
    TASKS,
    RunningGym,
    example_row,
    get,
    post,
    running_gym,
)
from tests.support import ROOT, Profiled, Row

MASK = ("mask_sample", "failure_kind", "failure_reason")
GOLDEN = sorted((ROOT / "tests" / "fixtures" / "pass_at_k").iterdir())


def test_the_servers_are_what_a_collector_expects(workspace: Path) -> None:
    with running_gym(*BUNDLED, "--set", "policy_api_key=hunter2hunter2", cwd=workspace) as gym:
        config = get(f"{gym.head}/global_config_dict_yaml").body
        assert isinstance(config, str)
        assert "hunter2" not in config
        assert f"port: {gym.urls[AGENT].rpartition(':')[2]}" in config
        instances = get(f"{gym.head}/server_instances").body
        assert {row["process_name"] for row in instances} == set(gym.urls)
        assert {row["server_type"] for row in instances} == {
            "responses_api_agents",
            "responses_api_models",
            "resources_servers",
        }
        for url in [gym.head, *gym.urls.values()]:
            assert get(url).status == 200
        assert get(f"{gym.urls['workplace_assistant']}/reverify_mode").body == "stateless"
        done = run_command("ng_status", f"+head_server.port={gym.head_port}", cwd=workspace)
        assert done.returncode == 0
        assert done.stdout.count("healthy") == 3


def environment_servers(gym: RunningGym) -> Row:
    config = yaml.safe_load(get(f"{gym.head}/global_config_dict_yaml").body)
    return {
        name: server["environment_servers"]
        for name, server in config.items()
        if isinstance(server, dict) and "environment_servers" in server
    }


def relay(gym: RunningGym) -> Row:
    """Return the config entry through which NeMo Gym 0.7 reaches the agent."""
    return {
        "legacy_agent": {
            "agent_server": {"type": "responses_api_agents", "name": AGENT},
            "host": "127.0.0.1",
            "port": int(gym.urls[AGENT].rpartition(":")[2]),
        }
    }


def test_every_agent_has_an_environment_server_with_its_own_address(workspace: Path) -> None:
    with running_gym(*BUNDLED, cwd=workspace) as gym:
        assert environment_servers(gym) == {f"{AGENT}_environment_server": relay(gym)}


def test_an_environment_server_of_the_users_gets_its_agents_address(workspace: Path) -> None:
    reference = {"type": "responses_api_agents", "name": AGENT}
    mine = {"my_server": {"environment_servers": {"legacy_agent": {"agent_server": reference}}}}
    (workspace / "mine.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    with running_gym(*BUNDLED, "-c", "mine.yaml", cwd=workspace) as gym:
        assert environment_servers(gym) == {"my_server": relay(gym)}
    port = "my_server.environment_servers.legacy_agent.port=9000"
    command = ("spotter", "config", *BUNDLED, "-c", "mine.yaml")
    assert "my_server" in run_command(*command, cwd=workspace).stdout
    done = run_command(*command, "--set", port, cwd=workspace)
    assert done.returncode == 2
    assert f"the agent {AGENT} answers for it" in done.stderr


def test_a_rollout_from_a_row_to_a_reward(workspace: Path) -> None:
    row = example_row()
    row["responses_create_params"] |= {"metadata": {"extra_body": '{"seed": 1}'}}
    row |= {"unknown_field": {"kept": [1, None]}, "_ng_task_index": 0, "_ng_rollout_index": 0}
    with running_gym(
        *BUNDLED,
        "--set",
        "policy_model.responses_api_models.simulated_model.slip_rate=0",
        cwd=workspace,
    ) as gym:
        answer = post(f"{gym.urls[AGENT]}/run", row)
        assert answer.status == 200
        assert answer.body["reward"] == 1.0
        mask = {name: answer.body[name] for name in MASK}
        assert mask == {"mask_sample": False, "failure_kind": None, "failure_reason": None}
        # as NeMo Gym's servers: the task's own fields stay in the task, or they become metrics
        asked = {"responses_create_params", "response"}
        assert answer.body.keys() == {*asked, "reward", *MASK}
        assert answer.body["responses_create_params"] == row["responses_create_params"]
        response = answer.body["response"]
        assert "simulated" in response["model"]
        kinds = [item["type"] for item in response["output"]]
        assert kinds.count("function_call") == kinds.count("function_call_output") > 0
        assert response["usage"]["total_tokens"] == (
            response["usage"]["input_tokens"] + response["usage"]["output_tokens"]
        )
        again = post(f"{gym.urls[AGENT]}/run", row).body
        assert [strip(item) for item in again["response"]["output"]] == [
            strip(item) for item in response["output"]
        ]


def test_faults_reach_the_collector(workspace: Path) -> None:
    model = "policy_model.responses_api_models.simulated_model"
    with running_gym(*BUNDLED, "--set", f"{model}.mask_rate=1", cwd=workspace) as gym:
        answer = post(f"{gym.urls[AGENT]}/run", example_row())
        assert answer.status == 200
        assert (answer.body["reward"], answer.body["mask_sample"]) == (0.0, True)
        assert answer.body["failure_kind"] in ("provider_unavailable", "provider_quota_exhausted")
        assert answer.body["response"]["status"] == "failed"
        assert answer.body["failure_reason"] == answer.body["response"]["error"]["message"]
    with running_gym(*BUNDLED, "--set", f"{model}.failure_rate=1", cwd=workspace) as gym:
        answer = post(f"{gym.urls[AGENT]}/run", example_row())
        assert answer.status == 500
        assert "answered 503" in answer.body


def test_the_agent_gives_up_on_a_model_that_hangs(workspace: Path) -> None:
    hangs = "policy_model.responses_api_models.simulated_model.hang_rate=1"
    timeout = f"{AGENT}.responses_api_agents.simple_agent.request_timeout=0.3"
    with running_gym(*BUNDLED, "--set", hangs, "--set", timeout, cwd=workspace) as gym:
        answer = post(f"{gym.urls[AGENT]}/run", example_row())
        assert answer.status == 500
        assert "no answer within 0.3 s" in answer.body
        gym.process.terminate()
        _, errors = gym.process.communicate(timeout=20)
    # the model cancelled the request when the agent did
    assert "running task" not in errors


def strip(item: Row) -> Row:
    return {key: value for key, value in item.items() if key not in ("id", "call_id")}


def test_state_travels_in_a_cookie_and_sessions_are_apart(workspace: Path) -> None:
    with running_gym(*BUNDLED, cwd=workspace) as gym:
        resources, row = gym.urls["workplace_assistant"], example_row()
        tool = row["responses_create_params"]["tools"][0]["name"]
        assert post(f"{resources}/{tool}", {}).status in (400, 422)
        first = post(f"{resources}/seed_session", row).cookie
        second = post(f"{resources}/seed_session", row).cookie
        assert first
        assert first != second
        for call in row["ground_truth"]:
            arguments = json.loads(call["arguments"])
            assert post(f"{resources}/{call['name']}", arguments, cookie=first).status == 200
            # NeMo Gym's agents send only what the last answer set, also after a refusal
            assert post(f"{resources}/{call['name']}", arguments, cookie=second).cookie == second
            assert post(f"{resources}/{call['name']}", {"x": 1}, cookie=first).cookie == first
        find, given = "email_search_emails", {"page_size": 1}
        found = [
            post(f"{resources}/{find}", given, cookie=cookie).body["output"]["pagination"]
            for cookie in (first, post(f"{resources}/seed_session", row).cookie)
        ]
        # the ground truth sends one email
        assert found[0]["total_emails"] == found[1]["total_emails"] + 1
        calls = [{"type": "function_call", **call} for call in row["ground_truth"]]
        for output, reward in (([], 0.0), (calls, 1.0)):
            judged = {**row, "response": {"output": output}}
            assert post(f"{resources}/verify", judged, cookie=first).body["reward"] == reward
        gone = post(f"{resources}/{call['name']}", arguments, cookie=first)
        assert gone.status == 400
        assert "no session" in gone.body["detail"]


def test_errors_can_be_read(workspace: Path) -> None:
    with running_gym(*BUNDLED, cwd=workspace) as gym:
        agent, resources = gym.urls[AGENT], gym.urls["workplace_assistant"]
        assert post(f"{agent}/run", b"{").status == 422
        assert post(f"{agent}/run", {}).body["detail"][0]["loc"] == [
            "body",
            "responses_create_params",
        ]
        assert post(f"{agent}/run", b"{}", kind="text/plain").status == 422
        assert post(f"{agent}/nowhere", {}).status == 404
        assert get(f"{agent}/run").status == 405
        row = example_row()
        row["responses_create_params"]["tools"][3] |= {"database": "x", "operation_type": "read"}
        refused = post(f"{agent}/run", row)
        assert refused.status == 422
        place = ["body", "responses_create_params", "tools", 3, "FunctionToolParam"]
        assert [problem["loc"] for problem in refused.body["detail"]] == [
            [*place, "database"],
            [*place, "operation_type"],
        ]
        row = example_row()
        row["responses_create_params"]["max_tokens"] = 10
        assert post(f"{agent}/run", row).body["detail"][0]["loc"][-1] == "max_tokens"
        # what goes wrong inside is a 500 with a JSON string, as in NeMo Gym
        row = {"responses_create_params": {"input": "hello"}}
        broken = post(f"{agent}/run", row)
        assert broken.status == 500
        assert "ground_truth" in broken.body
        assert post(f"{resources}/verify", {**row, "response": {}}).status == 422


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_aggregate_metrics_equal_nemo_gyms(case: Path, gym_url: str) -> None:
    rows = [json.loads(line) for line in (case / "rollouts.jsonl").read_text().splitlines()]
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))["aggregate"]
    answer = post(f"{gym_url}/aggregate_metrics", {"verify_responses": rows})
    assert answer.status == 200, answer.body
    assert_close(answer.body, expected)


@pytest.fixture(scope="module")
def gym_url(tmp_path_factory: pytest.TempPathFactory) -> object:
    with running_gym(*BUNDLED, cwd=tmp_path_factory.mktemp("gym")) as gym:
        yield gym.urls[AGENT]


def assert_close(found: object, expected: object) -> None:
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_close(found[key], value)
    elif isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-9)
    else:
        assert found == expected


def test_bad_rollouts_are_refused_by_aggregation(gym_url: str) -> None:
    key = {"_ng_task_index": 0, "_ng_rollout_index": 0}
    bad: list[object] = [None, [1], [{}], [key, key]]
    for rows in bad:
        assert post(f"{gym_url}/aggregate_metrics", {"verify_responses": rows}).status == 422
    empty = post(f"{gym_url}/aggregate_metrics", {"verify_responses": []})
    assert empty.body == NOTHING_MEASURED


NOTHING_MEASURED: Row = {
    "group_level_metrics": [],
    "agent_metrics": {},
    "key_metrics": {},
    "perf_summary": None,
    "repeat_level_metrics": [],
}


def aggregate_metrics(gym_url: str, masked: set[tuple[int, int]]) -> Row:
    """Aggregate two tasks of three rollouts each, whose reward is their task's index."""
    rows = [
        {
            "_ng_task_index": task,
            "_ng_rollout_index": rollout,
            "reward": task,
            "mask_sample": (task, rollout) in masked,
            "response": {"usage": None},
        }
        for task in range(2)
        for rollout in range(3)
    ]
    answer = post(f"{gym_url}/aggregate_metrics", {"verify_responses": rows})
    assert answer.status == 200, answer.body
    body: Row = answer.body
    return body


def test_masked_rollouts_are_left_out_of_the_aggregate(gym_url: str) -> None:
    found = aggregate_metrics(gym_url, {(0, 0), (0, 1), (1, 1)})
    assert [row["num_rollouts"] for row in found["group_level_metrics"]] == [1, 2]
    coverage = {
        "coverage/measured_rollouts": 3,
        "coverage/masked_rollouts": 3,
        "coverage/measured_tasks": 2,
        "coverage/fully_masked_tasks": 0,
    }
    assert found["key_metrics"] == pytest.approx({"mean/reward": 2 / 3, **coverage})
    # every rollout index that ran is a repeat, measured or not
    assert found["agent_metrics"]["num_repeats"] == 3
    assert found["agent_metrics"].items() >= coverage.items()
    repeats = {row["_ng_rollout_index"]: row for row in found["repeat_level_metrics"]}
    assert {index: row["mean/reward"] for index, row in repeats.items()} == {0: 1.0, 2: 0.5}
    assert "agent_ref" not in repeats[0]


def test_an_aggregate_of_masked_rollouts_has_only_the_coverage(gym_url: str) -> None:
    found = aggregate_metrics(
        gym_url, {(task, rollout) for task in range(2) for rollout in range(3)}
    )
    coverage = {
        "coverage/measured_rollouts": 0,
        "coverage/masked_rollouts": 6,
        "coverage/measured_tasks": 0,
        "coverage/fully_masked_tasks": 2,
    }
    assert found == {**NOTHING_MEASURED, "agent_metrics": coverage, "key_metrics": coverage}


def test_sixty_four_rollouts_at_once(workspace: Path) -> None:
    run = Profiled(workspace / "out.jsonl")
    slips = "policy_model.responses_api_models.simulated_model.slip_rate=0"
    with running_gym(*BUNDLED, "--set", slips, cwd=workspace) as gym:
        done = run_command(
            *("spotter", "collect", "-a", AGENT, "-i", TASKS, "-o", "out.jsonl", "-n", "2"),
            *("--head-port", str(gym.head_port), "-p", "64", "--limit", "64"),
            cwd=workspace,
        )
    assert done.returncode == 0, done.stderr
    assert not run.failures.exists()
    # a state shared by two rollouts would change their verdicts
    assert {row["reward"] for row in rows_of(run.rollouts)} == {1.0}


HANGING = """
import time
from collector.servers.resources_servers.environment import Arguments, Environment, Solution, Tool

class HangingEnvironment(Environment[None]):
    tools = (Tool("hang", "Hang.", Arguments, lambda state, given: time.sleep(600)),)
    def new_session(self, row): return None
    def verify(self, row, response, state): return {"reward": 0.0}
    def solution(self, row): return Solution()
"""


def test_an_environment_that_hangs_does_not_keep_the_servers_alive(workspace: Path) -> None:
    (workspace / "hanging.py").write_text(HANGING, encoding="utf-8")
    config = "hanging: {resources_servers: {hanging: {entrypoint: hanging.py}}}"
    (workspace / "hanging.yaml").write_text(config, encoding="utf-8")
    with running_gym("hanging.yaml", cwd=workspace) as gym:
        url = gym.urls["hanging"]
        cookie = post(f"{url}/seed_session", {}).cookie
        call = threading.Thread(
            target=_post_ignoring_errors, args=(f"{url}/hang", cookie), daemon=True
        )
        call.start()
        time.sleep(0.5)
        gym.process.terminate()
        assert gym.process.wait(20) == 0
    call.join(20)


def _post_ignoring_errors(url: str, cookie: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        post(url, {}, cookie=cookie)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_servers(workspace: Path, number: int) -> None:
    with running_gym(*BUNDLED, cwd=workspace) as gym:
        os.kill(gym.process.pid, number)
        assert gym.process.wait(20) == 0
        with pytest.raises(OSError, match="refused"):
            get(gym.head)


def test_a_server_that_does_not_answer_is_down(workspace: Path) -> None:
    refusing = socket.create_server(("127.0.0.1", 0))
    port = refusing.getsockname()[1]
    refusing.close()
    done = run_command("spotter", "status", "--head-port", str(port), cwd=workspace)
    assert done.returncode == 3
    assert "no head server" in done.stderr


def test_servers_that_come_back_elsewhere_are_found_again(workspace: Path) -> None:
    run = Profiled(workspace / "out.jsonl")
    latency = ("--set", "policy_model.responses_api_models.simulated_model.latency=0.2")
    with running_gym(*BUNDLED, *latency, cwd=workspace) as gym:
        port = str(gym.head_port)
        program = Path(sys.executable).with_name("spotter")
        command = ["collect", "-a", AGENT, "-i", TASKS, "-o", "out.jsonl", "--max-attempts", "20"]
        process = subprocess.Popen(
            [str(program), *command, "--head-port", port, "-p", "4", "--limit", "20"],
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_lines(run.rollouts, 2)
    with running_gym(*BUNDLED, "--head-port", port, cwd=workspace):
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert len(rows_of(run.rollouts)) == 20


def test_a_port_in_use_is_a_clear_error(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_command("spotter", "run", *BUNDLED, "--head-port", str(port), cwd=workspace)
    assert done.returncode == 3
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr


def test_every_server_refuses_a_foreign_host(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_gym(*BUNDLED, "--set", "allowed_hosts=[gym]", cwd=workspace) as gym:
        for url in [gym.head, *gym.urls.values()]:
            assert get(url, host="evil.example:80").status == 421
            assert get(url, host="gym:80").status == 200
            assert get(url.replace("127.0.0.1", "localhost")).status == 200
        model = f"{gym.urls['policy_model']}/v1/responses"
        assert post(model, {"input": "x"}, host="evil.example").status == 421
        done = run_command(
            *("spotter", "collect", "-a", AGENT, "-i", TASKS, "-o", "out.jsonl", "--limit=1"),
            *("--head-host=localhost", f"--head-port={gym.head_port}"),
            cwd=workspace,
        )
        assert done.returncode == 0, done.stderr
        look_up = socket.getaddrinfo
        monkeypatch.setattr(
            socket,
            "getaddrinfo",
            lambda _, *more, **options: look_up("127.0.0.1", *more, **options),
        )
        flags = ("--head-host=rebound.example", f"--head-port={gym.head_port}")
        done = run_command(
            *("spotter", "collect", "-a", AGENT, "-i", TASKS, "-o", "2.jsonl", *flags),
            cwd=workspace,
        )
        assert done.returncode == 3
        assert "allowed_hosts" in done.stderr
