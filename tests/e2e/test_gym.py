"""The embedded gym: real servers in a process of their own, on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.gym import keys_of, rows_of, wait_for_lines
from tests.servers import (
    ARITHMETIC,
    OPENAI,
    SIMULATED,
    WORKPLACE,
    example_row,
    get,
    post,
    running,
)
from tests.support import ROOT, Profiled, Row, run_command, run_profile

GOLDEN = sorted((ROOT / "tests" / "fixtures" / "pass_at_k").iterdir())
BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{level + 1}: &a{level + 1} [{', '.join([f'*a{level}'] * 10)}]\n" for level in range(9)
)
BUNDLED = ("-c", WORKPLACE, "-c", SIMULATED)
TASKS = "resources_servers/workplace/data/train.jsonl"
AGENT = "workplace_simple_agent"


def test_the_servers_are_what_a_collector_expects(workspace: Path) -> None:
    with running(*BUNDLED, "--set", "policy_api_key=hunter2hunter2", cwd=workspace) as gym:
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
        done = run_command("ng_status", f"+head_server.port={gym.head_port}", cwd=workspace)
        assert done.returncode == 0
        assert done.stdout.count("healthy") == 3


def test_a_rollout_from_a_row_to_a_reward(workspace: Path) -> None:
    row = example_row()
    row["responses_create_params"] |= {"metadata": {"extra_body": '{"seed": 1}'}}
    row |= {"unknown_field": {"kept": [1, None]}, "_ng_task_index": 0, "_ng_rollout_index": 0}
    with running(
        *BUNDLED,
        "--set",
        "policy_model.responses_api_models.simulated_model.slip_rate=0",
        cwd=workspace,
    ) as gym:
        answer = post(f"{gym.urls[AGENT]}/run", row)
        assert answer.status == 200
        assert answer.body["reward"] == 1.0
        assert answer.body["unknown_field"] == {"kept": [1, None]}
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


def strip(item: Row) -> Row:
    return {key: value for key, value in item.items() if key not in ("id", "call_id")}


def test_state_travels_in_a_cookie_and_sessions_are_apart(workspace: Path) -> None:
    with running(*BUNDLED, cwd=workspace) as gym:
        resources, row = gym.urls["workplace"], example_row()
        tool = row["responses_create_params"]["tools"][0]["name"]
        assert post(f"{resources}/{tool}", {}).status in (400, 422)
        first = post(f"{resources}/seed_session", row).cookie
        second = post(f"{resources}/seed_session", row).cookie
        assert first
        assert first != second
        for call in row["ground_truth"]:
            arguments = json.loads(call["arguments"])
            assert post(f"{resources}/{call['name']}", arguments, cookie=first).status == 200
        judged = {**row, "response": {"output": []}}
        assert post(f"{resources}/verify", judged, cookie=second).body["reward"] == 0.0
        assert post(f"{resources}/verify", judged, cookie=first).body["reward"] == 1.0
        gone = post(f"{resources}/{call['name']}", arguments, cookie=first)
        assert gone.status == 400
        assert "no session" in gone.body["detail"]


def test_errors_can_be_read(workspace: Path) -> None:
    with running(*BUNDLED, cwd=workspace) as gym:
        agent, resources = gym.urls[AGENT], gym.urls["workplace"]
        assert post(f"{agent}/run", b"{").status == 422
        assert post(f"{agent}/run", {}).body["detail"][0]["loc"] == [
            "body",
            "responses_create_params",
        ]
        assert post(f"{agent}/run", b"{}", kind="text/plain").status == 422
        assert post(f"{agent}/nowhere", {}).status == 404
        assert get(f"{agent}/run").status == 405
        tool = example_row()["responses_create_params"]["tools"][0]["name"]
        refused = post(f"{resources}/{tool}", {"no_such_field": 1})
        assert refused.status == 422
        assert "no_such_field" in json.dumps(refused.body)
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
    with running(*BUNDLED, cwd=tmp_path_factory.mktemp("gym")) as gym:
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
    assert empty.body == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}


def test_sixty_four_rollouts_at_once(workspace: Path) -> None:
    run = Profiled(workspace / "out.jsonl")
    slips = "policy_model.responses_api_models.simulated_model.slip_rate=0"
    with running(*BUNDLED, "--set", slips, cwd=workspace) as gym:
        done = run_command(
            *("spotter", "collect", "-a", AGENT, "-i", TASKS, "-o", "out.jsonl", "-n", "2"),
            *("--head-port", str(gym.head_port), "-p", "64", "--limit", "64"),
            cwd=workspace,
        )
    assert done.returncode == 0, done.stderr
    assert not run.failures.exists()
    # a state that leaked from one rollout into another would spoil its verdict
    assert {row["reward"] for row in rows_of(run.rollouts)} == {1.0}


def test_collecting_with_servers_of_its_own(workspace: Path) -> None:
    run = Profiled(workspace / "out.jsonl")
    command = [
        "ng_e2e_collect_rollouts",
        f"+config_paths=[{ARITHMETIC},{SIMULATED}]",
        *("+output_jsonl_fpath=out.jsonl", "+split=validation", "+num_repeats=2", "+limit=10"),
        *(
            "+num_repeats_add_seed=true",
            "++policy_model.responses_api_models.simulated_model.seed=5",
        ),
    ]
    done = run_command(*command, cwd=workspace)
    assert done.returncode == 0, done.stderr
    rows = rows_of(run.rollouts)
    assert len(rows) == 20
    assert {row["agent_ref"]["name"] for row in rows} == {"arithmetic_simple_agent"}
    assert all("extracted_answer" in row for row in rows)
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0
    again = run_command(*command, "+resume_from_cache=true", cwd=workspace)
    assert again.returncode == 0, again.stderr
    assert "+split" not in again.stderr
    missing = run_command(*command[:3], "+split=benchmark", cwd=workspace)
    assert missing.returncode == 2
    assert "no dataset of type benchmark" in missing.stderr


def test_the_demo_replaces_only_a_demo(workspace: Path) -> None:
    (workspace / "mine").mkdir()
    (workspace / "mine" / "rollouts.jsonl").write_text("precious", encoding="utf-8")
    done = run_command("spotter", "demo", "-o", "mine", "--limit", "1", cwd=workspace)
    assert done.returncode == 2
    assert (workspace / "mine" / "rollouts.jsonl").read_text(encoding="utf-8") == "precious"


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
    with running("hanging.yaml", cwd=workspace) as gym:
        url = gym.urls["hanging"]
        cookie = post(f"{url}/seed_session", {}).cookie
        call = threading.Thread(target=_ignored, args=(f"{url}/hang", cookie), daemon=True)
        call.start()
        time.sleep(0.5)
        gym.process.terminate()
        assert gym.process.wait(20) == 0
    call.join(20)


def _ignored(url: str, cookie: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        post(url, {}, cookie=cookie)


@pytest.mark.parametrize(
    "where", ["def new_session(self, row):", "class CounterEnvironment(Environment[Counter]):"]
)
def test_an_environment_that_exits_is_told(workspace: Path, where: str) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    spaces = "        " if where.startswith("def") else "    "
    broken = code.replace(where, f"{where}\n{spaces}raise SystemExit(0)")
    (workspace / "counter.py").write_text(broken, encoding="utf-8")
    done = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert done.returncode in (1, 2)
    assert "SystemExit" in done.stderr


def test_the_demo_is_reproducible(workspace: Path) -> None:
    outputs = []
    for name in ("one", "two"):
        done = run_command("spotter", "demo", "-o", name, "--limit", "12", "-n", "2", cwd=workspace)
        assert done.returncode == 0, done.stderr
        outputs.append(re.sub(r"\bone\b|\btwo\b| \(new\)", "", done.stdout))
    assert outputs[0] == outputs[1]
    assert "simulated" in outputs[0]
    for words in ("24/24 (100.00%)", "pass rate", "hardest tasks", "most uncertain", "Try next"):
        assert words in outputs[0]
    answers = [
        {key: strip_times(row) for key, row in zip(keys_of(rows), rows, strict=True)}
        for rows in (rows_of(workspace / name / "rollouts.jsonl") for name in ("one", "two"))
    ]
    assert answers[0] == answers[1]


def strip_times(row: Row) -> Row:
    return {**row, "response": {**row["response"], "created_at": None}}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_servers(workspace: Path, number: int) -> None:
    with running(*BUNDLED, cwd=workspace) as gym:
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


@pytest.mark.parametrize(
    ("config", "code", "named"),
    [
        ("a: {responses_api_models: {nothing: {}}}", 2, "no nothing among responses_api_models"),
        ("a: {responses_api_models: {simulated_model: {}, b: {}}}", 2, "one implementation"),
        ("a: {resources_servers: {mine: {}}}", 2, "entrypoint"),
        ("a: {resources_servers: {mine: {entrypoint: no.py}}}", 4, "cannot find no.py"),
        ("a: {responses_api_models: {openai_model: {x: '${url}'}}}", 2, "${url} is not set"),
        ("a: {responses_api_models: {simulated_model: {port: x}}}", 2, "the port 'x'"),
        ("a: {responses_api_models: {simulated_model: {slip_rate: much}}}", 2, "slip_rate"),
        ("a: {responses_api_models: {simulated_model: {slip_rat: 1}}}", 2, "mean slip_rate?"),
        ("a: ${a}", 2, "refers to itself"),
        ("a: {resources_servers: [x]}", 2, "one implementation"),
        ("1: {responses_api_models: {simulated_model: {}}}", 2, "are texts"),
        ("a: &a {b: *a}", 2, "contains itself"),
        ("a: {resources_servers: {workplace: {session_timeout: [1]}}}", 2, "session_timeout"),
        ('a: {responses_api_models: {simulated_model: {host: "a\\0b"}}}', 2, "no name of a host"),
        (BOMB, 2, "too large"),
        ("a: [", 2, "not YAML"),
        ("- a", 2, "not a map"),
        ("{}", 2, "no servers"),
        (
            "a: {responses_api_agents: {simple_agent: {resources_server: {name: x},"
            " model_server: {name: y}}}}",
            2,
            "resources_server x is none of",
        ),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_bad_config_is_told_clearly(workspace: Path, config: str, code: int, named: str) -> None:
    (workspace / "bad.yaml").write_text(config, encoding="utf-8")
    done = run_command("spotter", "run", "-c", "bad.yaml", "--head-port", "0", cwd=workspace)
    assert done.returncode == code, done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        ("+num_repeat=4", "nothing in the config is called or uses num_repeat"),
        ("+policy_modl.x=1", "did you mean policy_model?"),
        ("num_repeats=4", "did you mean +num_repeats=…?"),
    ],
)
def test_a_misspelt_setting_is_not_ignored(workspace: Path, flag: str, named: str) -> None:
    done = run_command(
        "spotter", "collect", "--serve", "-o", "out.jsonl", *BUNDLED, flag, cwd=workspace
    )
    assert done.returncode == 2
    assert named in done.stderr


def test_servers_that_do_not_start_are_told(workspace: Path) -> None:
    setting = "policy_model.responses_api_models.simulated_model.slip_rate=much"
    command = ("spotter", "collect", "--serve", "-o", "out.jsonl", *BUNDLED, "--set", setting)
    done = run_command(*command, cwd=workspace)
    assert done.returncode == 2
    assert "policy_model: slip_rate" in done.stderr
    assert "did not start" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_config_lists_the_bundled_ones(workspace: Path) -> None:
    done = run_command("spotter", "run", "resources_servers/workplce.yaml", cwd=workspace)
    assert done.returncode == 4
    assert WORKPLACE in done.stderr


@pytest.mark.parametrize("where", ["solution", "tasks", "verify"])
def test_a_broken_environment_is_told_in_a_sentence(workspace: Path, where: str) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    broken = re.sub(rf"(def {where}\(.*\):\n)", r'\1        raise KeyError("oops")\n', code)
    (workspace / "counter.py").write_text(broken, encoding="utf-8")
    done = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert done.returncode == 1
    assert "KeyError: 'oops'" in done.stderr
    assert done.stderr.count("Traceback") == (1 if where == "verify" else 0)


def test_servers_that_come_back_elsewhere_are_found_again(workspace: Path) -> None:
    run = Profiled(workspace / "out.jsonl")
    latency = ("--set", "policy_model.responses_api_models.simulated_model.latency=0.2")
    with running(*BUNDLED, *latency, cwd=workspace) as gym:
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
    with running(*BUNDLED, "--head-port", port, cwd=workspace):
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert len(rows_of(run.rollouts)) == 20


def test_a_taken_port_is_told_clearly(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_command("spotter", "run", *BUNDLED, "--head-port", str(port), cwd=workspace)
    assert done.returncode == 3
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr


def test_configs_are_merged_and_secrets_hidden(workspace: Path) -> None:
    (workspace / "env.yaml").write_text("policy_api_key: hunter2hunter2", encoding="utf-8")
    done = run_command(
        *("ng_dump_config", f"+config_paths=[{WORKPLACE},{OPENAI}]"),
        *("+policy_base_url=http://me:hunter3/x@hunter4@127.0.0.1:1/v1", "+policy_model_name=m"),
        *(f"++{AGENT}.clientSecret=hunter5", f"++{AGENT}.note=the key is ${{policy_api_key}}"),
        *(f"++{AGENT}.openai_key=hunter6", f"++{AGENT}.max_tokens=77"),
        f"++{AGENT}.responses_api_agents.simple_agent.max_steps=3",
        cwd=workspace,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "max_steps: 3" in done.stdout
    assert "openai_model: m" in done.stdout
    assert "max_tokens: 77" in done.stdout
    assert "hunter" not in done.stdout
    assert "_config_dir" not in done.stdout


@pytest.mark.parametrize("name", ["workplace", "arithmetic"])
def test_the_environments_pass_their_own_test(workspace: Path, name: str) -> None:
    done = run_command("ng_test", f"+entrypoint=resources_servers/{name}", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert "100 tasks" in done.stdout


def test_the_example_of_the_docs_runs(workspace: Path) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(python|yaml)\n(.*?)```", text, re.DOTALL))
    (workspace / "counter.py").write_text(blocks["python"], encoding="utf-8")
    (workspace / "counter.yaml").write_text(blocks["yaml"], encoding="utf-8")
    done = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert done.stdout == "counter.py: 100 tasks and 1 tool are fine\n"
    written = ("spotter", "test", "counter.py", "--write", "counter.jsonl", "--count", "20")
    assert run_command(*written, cwd=workspace).returncode == 0
    collected = run_command(
        *(
            "spotter",
            "collect",
            "--serve",
            "-o",
            "out.jsonl",
            "-c",
            "counter.yaml",
            "-c",
            SIMULATED,
        ),
        cwd=workspace,
    )
    assert collected.returncode == 0, collected.stderr
    assert len(rows_of(workspace / "out.jsonl")) == 20
    broken = blocks["python"].replace('float(reached == row["target"])', "1.0")
    (workspace / "counter.py").write_text(broken, encoding="utf-8")
    failed = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert failed.returncode == 1
    assert "empty answer: it scores 1.0, not 0" in failed.stderr


def test_help_lists_every_command_that_is_installed(workspace: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = re.findall(r'^(ng_\w+) = "collector', text, re.MULTILINE)
    told = run_command("ng_help", cwd=workspace).stdout
    assert len(names) >= 10
    for name in names:
        assert name in told
    versions = json.loads(run_command("ng_version", "--json", cwd=workspace).stdout)
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))


def test_the_servers_end_with_the_command_that_started_them(workspace: Path) -> None:
    """Even if it is killed, no server is left behind."""
    program = Path(sys.executable).with_name("spotter")
    command = [str(program), "demo", "-o", "demo"]
    with subprocess.Popen(command, cwd=workspace, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert "starting the servers" in process.stderr.readline()
        rollouts = workspace / "demo" / "rollouts.jsonl"
        while not rollouts.exists():
            assert process.poll() is None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    assert children
    for child in children:
        for _ in range(200):
            if not Path(f"/proc/{child}").exists():
                break
            signal.sigtimedwait([], 0.05)
        assert not Path(f"/proc/{child}").exists()
