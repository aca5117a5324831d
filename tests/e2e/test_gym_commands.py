"""The commands around the gym: demo, config, test, and collecting with servers of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from collector.servers import config as configs
from tests.gym import keys_of, rows_of
from tests.programs import run_command
from tests.servers import (
    AGENT,
    ARITHMETIC,
    BUNDLED,
    OPENAI,
    SIMULATED,
    WORKPLACE,
)
from tests.support import ROOT, Profiled, Row, run_profile

BOMB = "a0: [x]\n" + "".join(f"a{level + 1}:\n" + f"- ${{a{level}}}\n" * 10 for level in range(9))
# what two demos print differently: their folders and durations
CHANGING = r"\bone\b|\btwo\b|, [0-9.]+ m?s\b| \(new\)|Collected .*"


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
    reused = ("+resume_from_cache=true", "+reuse_existing_data_preparation=true")
    again = run_command(*command, *reused, cwd=workspace)
    assert again.returncode == 0, again.stderr
    assert "out_tasks.jsonl as they are" in again.stderr
    other = run_command(*command[:3], "+split=train", reused[1], cwd=workspace)
    assert other.returncode == 2
    assert "another split" in other.stderr
    assert "+split" not in again.stderr
    missing = run_command(*command[:3], "+split=benchmark", cwd=workspace)
    assert missing.returncode == 2
    assert "no dataset of type benchmark" in missing.stderr


@pytest.mark.parametrize("name", ["rollouts.jsonl", "rollouts_run.json", "warehouse.duckdb"])
def test_the_demo_replaces_only_a_demo(workspace: Path, name: str) -> None:
    (workspace / "mine").mkdir()
    (workspace / "mine" / name).write_text("precious", encoding="utf-8")
    done = run_command("spotter", "demo", "-o", "mine", "--limit", "1", cwd=workspace)
    assert done.returncode in (2, 4)
    assert (workspace / "mine" / name).read_text(encoding="utf-8") == "precious"
    assert [path.name for path in (workspace / "mine").iterdir()] == [name]


@pytest.mark.slow
def test_a_run_that_was_collected_in_the_demos_folder_is_not_a_demo(workspace: Path) -> None:
    demo = ("spotter", "demo", "-o", "demo", "--limit", "1", "-n", "1")
    for _ in range(2):
        assert run_command(*demo, cwd=workspace).returncode == 0
    rollouts = workspace / "demo" / "rollouts.jsonl"
    tasks = "resources_servers/workplace_assistant/data/train.jsonl"
    collect = ("spotter", "collect", "--serve", "-a", "workplace_assistant_simple_agent")
    done = run_command(
        *(*collect, "-i", tasks, "-o", "demo/rollouts.jsonl", "-n", "1", "--limit", "2"),
        *(*BUNDLED, "--overwrite"),
        cwd=workspace,
    )
    assert done.returncode == 0, done.stderr
    before = rollouts.read_bytes()
    done = run_command(*demo, cwd=workspace)
    assert (done.returncode, rollouts.read_bytes()) == (2, before)
    assert "is not of a demo" in done.stderr


def test_serving_writes_nothing_if_the_run_exists(workspace: Path) -> None:
    (workspace / "out.jsonl").write_text("{}\n", encoding="utf-8")
    collect = ("spotter", "collect", "--serve", "-o", "out.jsonl")
    done = run_command(*collect, *BUNDLED, cwd=workspace)
    assert done.returncode == 2
    assert "has already been collected" in done.stderr
    assert [path.name for path in workspace.iterdir()] == ["out.jsonl"]


def test_serving_leaves_tasks_of_others_alone(workspace: Path) -> None:
    tasks = workspace / "out_tasks.jsonl"
    tasks.write_text("precious\n", encoding="utf-8")
    collect = ("spotter", "collect", "--serve", "-o", "out.jsonl")
    done = run_command(*collect, *BUNDLED, cwd=workspace)
    assert done.returncode == 2
    assert "--reuse-existing-data-preparation" in done.stderr
    assert [path.name for path in workspace.iterdir()] == [tasks.name]
    assert tasks.read_text(encoding="utf-8") == "precious\n"


@pytest.mark.parametrize(
    "where", ["def new_session(self, row):", "class CounterEnvironment(Environment[Counter]):"]
)
def test_an_environment_that_exits_is_an_error(workspace: Path, where: str) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    spaces = "        " if where.startswith("def") else "    "
    broken = code.replace(where, f"{where}\n{spaces}raise SystemExit(0)")
    (workspace / "counter.py").write_text(broken, encoding="utf-8")
    done = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert done.returncode in (1, 2)
    assert "SystemExit" in done.stderr


@pytest.mark.slow
def test_the_demo_is_reproducible(workspace: Path) -> None:
    outputs = []
    for name in ("one", "two"):
        done = run_command("spotter", "demo", "-o", name, "--limit", "12", "-n", "2", cwd=workspace)
        assert done.returncode == 0, done.stderr
        outputs.append(re.sub(CHANGING, "", done.stdout))
    assert outputs[0] == outputs[1]
    assert "simulated" in outputs[0]
    for words in ("24/24 (100.00%)", "pass rate", "hardest tasks", "most uncertain", "Try next"):
        assert words in outputs[0]
    answers = [
        {key: strip_times(row) for key, row in zip(keys_of(rows), rows, strict=True)}
        for rows in (rows_of(workspace / name / "rollouts.jsonl") for name in ("one", "two"))
    ]
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_the_demo_of_faults_ends_well_and_says_what_happened(workspace: Path) -> None:
    command = ("spotter", "demo", "--faults", "-o", "demo", "--limit", "40", "-n", "1")
    done = run_command(*command, cwd=workspace)
    assert done.returncode == 0, done.stderr
    run = Profiled(workspace / "demo" / "rollouts.jsonl")
    rows, failures = rows_of(run.rollouts), rows_of(run.failures)
    masked = [row for row in rows if row["mask_sample"]]
    missing = 40 - len(rows)
    assert masked
    assert missing
    # some failures were retried with success
    assert len({*keys_of(failures)} & {*keys_of(rows)}) > 0
    # errors and timeouts
    assert len({row["_ng_failure_class"] for row in failures}) == 2
    for kind in {row["failure_kind"] for row in masked}:
        assert kind in done.stdout
    assert (
        f"40 rollouts expected: {missing} missing, {len(masked)} masked."
        f" Every figure here covers the other {len(rows) - len(masked)}."
    ) in done.stdout


def strip_times(row: Row) -> Row:
    times = {"response": {**row["response"], "created_at": None}, "_spotter_latency_ms": None}
    return {**row, **times}


@pytest.mark.parametrize(
    ("config", "code", "named"),
    [
        ("a: {responses_api_models: {nothing: {}}}", 2, "a: responses_api_models/nothing is"),
        ("a: {responses_api_models: {simulated_model: {}, b: {}}}", 2, "one implementation"),
        ("a: {resources_servers: {mine: {}}}", 2, "entrypoint"),
        ("a: {resources_servers: {mine: {entrypoint: no.py}}}", 4, "cannot find no.py"),
        ("a: {responses_api_models: {openai_model: {x: '${url}'}}}", 2, "${url} is not set"),
        ("a: {responses_api_models: {simulated_model: {port: x}}}", 2, "'x' is not a valid port"),
        ("a: {responses_api_models: {simulated_model: {slip_rate: much}}}", 2, "slip_rate"),
        ("a: {responses_api_models: {simulated_model: {slip_rat: 1}}}", 2, "mean slip_rate?"),
        ("a: ${a}", 2, "refers to itself"),
        ("a: ${b.${c}}\nb: {x: 1}\nc: y", 2, "${b.y} is not set"),
        ("a: ${b.${c}}\nc: '}'", 2, "a: ${c} cannot be part of a name"),
        ("a: {resources_servers: [x]}", 2, "one implementation"),
        ("1: {responses_api_models: {simulated_model: {}}}", 2, "must be text"),
        ("a: &a {b: *a}", 2, "contains itself"),
        ("a: {resources_servers: {arithmetic: {session_timeout: [1]}}}", 2, "session_timeout"),
        ('a: {responses_api_models: {simulated_model: {host: "a\\0b"}}}', 2, "not a valid host"),
        (BOMB, 2, "the config is too large"),
        ("a: [", 2, "not valid YAML"),
        ("- a", 2, "must be a map"),
        ("{}", 2, "no servers"),
        (
            "a: {responses_api_agents: {simple_agent: {resources_server: {name: x},"
            " model_server: {name: y}}}}",
            2,
            "resources_server x is not one of",
        ),
        (
            "a: {responses_api_models: {simulated_model: {}}}\n"
            "b: {environment_servers: {single_agent_turn: {agent_server: {name: c}}}}",
            2,
            "b: the only environment server here is legacy_agent",
        ),
        (
            "a: {responses_api_models: {simulated_model: {}}}\n"
            "b: {environment_servers: {legacy_agent: {agent_server: {name: a}}}}",
            2,
            "b: its agent_server must refer to an agent of the config",
        ),
        (
            "a: {responses_api_models: {simulated_model: {}}, environment_servers: {x: {}}}",
            2,
            "a: a server must have one kind",
        ),
        ("a: {responses_api_models: {simulated_model: {}}}\nallowed_hosts: [1]", 2, "list of"),
        (
            "a: {responses_api_models: {openai_model: {openai_base_url: 'http://me:hunter2@h/v1',"
            " openai_api_key: hunter2hunter2, openai_model: m}}}",
            2,
            "a: openai_base_url has a login and openai_api_key is set",
        ),
        (
            "a: {responses_api_models: {simulated_model: {mask_rate: 0.6, hang_rate: 0.6}}}",
            2,
            "mask_rate: the sum with",
        ),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_bad_config_is_a_clear_error(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, config: str, code: int, named: str
) -> None:
    monkeypatch.setattr(configs, "LARGEST_CONFIG", 100_000)
    (workspace / "bad.yaml").write_text(config, encoding="utf-8")
    done = run_command("spotter", "run", "-c", "bad.yaml", "--head-port", "0", cwd=workspace)
    assert done.returncode == code, done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        ("+num_repeat=4", "unknown setting num_repeat"),
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


def test_servers_that_do_not_start_are_an_error(workspace: Path) -> None:
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
def test_a_broken_environment_is_an_error_of_one_sentence(workspace: Path, where: str) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    broken = re.sub(rf"(def {where}\(.*\):\n)", r'\1        raise KeyError("oops")\n', code)
    (workspace / "counter.py").write_text(broken, encoding="utf-8")
    done = run_command("spotter", "test", "counter.py", cwd=workspace)
    assert done.returncode == 1
    assert "KeyError: 'oops'" in done.stderr
    assert done.stderr.count("Traceback") == (1 if where == "verify" else 0)


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


def test_the_environments_pass_their_own_test(workspace: Path) -> None:
    done = run_command("ng_test", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "resources_servers/workplace_assistant: 100 tasks and 27 tools are fine",
        "resources_servers/arithmetic: 100 tasks and 0 tools are fine",
    ]
    one = run_command("ng_test", "+entrypoint=resources_servers/arithmetic", cwd=workspace)
    assert one.stdout == "resources_servers/arithmetic: 100 tasks and 0 tools are fine\n"
    found = json.loads(run_command("spotter", "test", "--json", cwd=workspace).stdout)
    assert [result["task_count"] for result in found] == [100, 100]
    assert run_command("spotter", "test", "-i", "x.jsonl", cwd=workspace).returncode == 2


def test_the_example_of_the_docs_runs(workspace: Path) -> None:
    text = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    # the first of each kind
    blocks = dict(reversed(re.findall(r"```(python|yaml)\n(.*?)```", text, re.DOTALL)))
    (workspace / "counter.py").write_text(blocks["python"], encoding="utf-8")
    (workspace / "counter.yaml").write_text(blocks["yaml"], encoding="utf-8")
    transcript = re.findall(r"\$ spotter (test .*)\n((?:[^$\n].*\n)*)", text)
    for words, answer in transcript:
        done = run_command("spotter", *words.split(), cwd=workspace)
        assert (done.returncode, done.stderr + done.stdout) == (0, answer)
    assert len(transcript) == 2
    written = ("spotter", "test", "counter.py", "--write", "counter.jsonl", "--count", "20")
    assert run_command(*written, cwd=workspace).returncode == 2, (
        "a file that exists is not replaced"
    )
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
    assert "empty answer: the reward is 1.0, not 0" in failed.stderr


def test_help_lists_every_command_that_is_installed(workspace: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = re.findall(r'^(ng_\w+) = "collector', text, re.MULTILINE)
    help_text = run_command("ng_help", cwd=workspace).stdout
    assert len(names) >= 10
    for name in names:
        assert name in help_text
    assert max(map(len, help_text.splitlines())) <= 80
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
