"""`--upload` with the trackers' real libraries, offline."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from collector.uploading.metric_names import safe_name
from tests.gym import GymFactory, collect, free_port, start_collect, write_tasks
from tests.programs import run_command
from tests.support import Profiled, Row, inputs_of, key, run_profile, write_lines, write_run
from tests.trackers import WANDB_KEY, Tracked, go_offline, mlflow_run, wandb_run
from tests.wandb_server import Wandb, serving

BOTH = ("--upload", "wandb", "--upload", "mlflow")
ODD = "agent ü/../%\n#"
RELIABILITY = (
    "clean_ratio",
    "failed_attempt_count",
    "missing_rollout_count",
    "measured_rollout_count",
    "masked_rollout_count",
)
SECRETS = (WANDB_KEY, "sk-only-in-argv-1234", "sk-only-in-env-5678", "hunter2-in-a-url")


@pytest.fixture
def offline(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    go_offline(workspace, monkeypatch)
    return workspace


def go_online(server: Wandb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    monkeypatch.setenv("WANDB_API_KEY", WANDB_KEY)


def odd_run(folder: Path) -> Profiled:
    """Two agents, odd names, unequal repeats, masked rollouts and failed attempts."""
    rows = [
        key(task, index, agent_ref={"name": agent}, reward=reward, **{"my metric/%": 0.25 * index})
        for task, (agent, rewards) in enumerate(
            [("agent_a", (1, 0, 1)), ("agent_a", (0, 0, 1)), (ODD, (0.5, 1)), (ODD, (1, 1))]
        )
        for index, reward in enumerate(rewards)
    ]
    rows += [
        key(0, 3, agent_ref={"name": "agent_a"}, reward=1, mask_sample=True, failure_kind=ODD),
        key(2, 2, agent_ref={"name": ODD}, reward=0, mask_sample=True),
    ]
    run = write_run(folder, rows, inputs=inputs_of(rows), name="odd #1 ü")
    failure = {"_ng_failure_class": "http_5xx", "_ng_attempt_index": 0}
    write_lines(run.failures, [key(0, 0, agent_ref={"name": "agent_a"}, **failure)])
    return run


def uploads_of(done: subprocess.CompletedProcess[str]) -> list[Row]:
    told: list[Row] = json.loads(done.stdout)["uploads"]
    return told


def tracked(done: subprocess.CompletedProcess[str]) -> list[Tracked]:
    """The runs that a command tells of, as the trackers have them."""
    assert done.returncode in (0, 3), done.stderr
    return [
        wandb_run(upload["path"]) if upload["tracker"] == "wandb" else mlflow_run(upload["run"])
        for upload in uploads_of(done)
    ]


def expected_figures(run: Profiled) -> Row:
    """What the marts say, under the names that the documents promise."""
    figures: Row = {}
    for row in run.table("select * from agent_scores where slice_by = 'all'"):
        score = row["score"].replace("_k", f"_{row['k']}")
        name = f"scores/{safe_name(row['agent_name'])}/{score}"
        figures |= {name: row["value"]}
        figures |= {f"{name}_{bound}": row[bound] for bound in ("low", "high", "std_error")}
    for row in run.table("select * from agent_metrics"):
        name = f"means/{safe_name(row['agent_name'])}/{safe_name(row['metric'])}"
        figures[name] = row["value_mean"]
    for row in run.table("select * from agent_reliability"):
        for figure in RELIABILITY:
            figures[f"reliability/{safe_name(row['agent_name'])}/{figure}"] = row[figure]
    for row in run.table("select * from mask_kinds"):
        name = f"masked/{safe_name(row['agent_name'])}/{safe_name(row['failure_kind'])}"
        figures[name] = row["rollout_count"]
    return {name: value for name, value in figures.items() if value is not None}


def expected_curves(run: Profiled) -> dict[str, dict[int, float]]:
    curves: dict[str, dict[int, float]] = {}
    for row in run.table("select * from pass_at_k where slice_by = 'all'"):
        for figure in ("pass_at_k", "pass_at_k_low", "pass_hat_k", "max_at_k"):
            name = f"pass_at_k/{safe_name(row['agent_name'])}/{figure}"
            curves.setdefault(name, {})[row["k"]] = row[figure]
    return curves


def test_a_profile_arrives_as_the_marts_have_it(offline: Path) -> None:
    run = odd_run(offline)
    done = run_profile(run.rollouts, "--run-id", "run 1/ü", "--json", *BOTH, cwd=offline)
    assert done.stderr.count("uploading run 1/ü with 6 files to") == 2
    base = safe_name("odd #1 ü")
    figures, curves = expected_figures(run), expected_curves(run)
    assert len(figures) > 40
    assert figures[f"masked/agent_a/{safe_name(ODD)}"] == 1
    assert len(curves) == 8
    for found in tracked(done):
        assert (found.name, found.group, found.kind) == ("run 1/ü", "run 1/ü", "profile")
        assert found.project == "spotter"
        assert not found.is_failed
        for name, value in figures.items():
            assert found.figures[name] == pytest.approx(value), name
        for name, points in curves.items():
            assert found.curves[name] == pytest.approx(points), name
        settings = {name: str(value) for name, value in found.settings.items()}
        assert settings["rollouts"] == "odd #1 ü.jsonl"
        assert settings["masked_rollout_count"] == "2"
        assert (settings["pass_threshold"], settings["task_count"]) == ("1.0", "4")
        assert str(offline) not in str(settings)
        sizes = {
            f"rollouts/{base}.jsonl": run.rollouts,
            f"rollouts/{base}_materialized_inputs.jsonl": run.inputs,
            f"rollouts/{base}_failures.jsonl": run.failures,
            f"profile/{base}_reward_profiling.jsonl": run.profiling,
            f"profile/{base}_agent_metrics.json": run.agents,
            f"profile/{base}_repeat_level_metrics.json": run.repeats,
        }
        assert found.files == {name: path.stat().st_size for name, path in sizes.items()}


@pytest.mark.slow
def test_each_run_and_each_time_is_a_run_of_its_own(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what MLflow keeps copies of is not profiled as if it were runs."""
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{offline}/tracking")
    rows = [key(0, index, reward=1) for index in range(2)]
    for name in ("one", "two"):
        write_run(offline, rows, inputs=inputs_of(rows), name=name)
    runs = []
    for _ in range(2):
        done = run_profile(offline, "--no-files", "--json", "+upload=[mlflow]", cwd=offline)
        for found, name in zip(tracked(done), ("one", "two"), strict=True):
            assert (found.project, found.name[-4:]) == ("mine", f"-{name}")
            kept = [f"rollouts/{name}.jsonl", f"rollouts/{name}_materialized_inputs.jsonl"]
            assert sorted(found.files) == kept
        runs += [upload["run"] for upload in uploads_of(done)]
    assert len(set(runs)) == 4


def test_the_training_around_an_upload_is_no_part_of_it(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = {
        "SWEEP_PARAM_PATH": "sweep.yaml",
        "CONFIG_PATHS": "config.yaml",
        "SERVICE": "rubbish",
        "NOTES": "hunter2-in-a-note",
        "HOST": "hunter2-in-a-host",
    }
    for name, value in training.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    for name in ("config-defaults", "config", "sweep"):
        (offline / f"{name}.yaml").write_text("key:\n  value: hunter2-in-a-file\n")
    done = run_profile(
        odd_run(offline).rollouts, "--no-files", "--json", "--upload=wandb", cwd=offline
    )
    (found,) = tracked(done)
    assert "key" not in found.settings
    (upload,) = uploads_of(done)
    assert Path(upload["path"]).parent == offline / "wandb"
    written = b"".join(path.read_bytes() for path in (offline / "wandb").rglob("*.wandb"))
    assert b"pass_threshold" in written
    assert b"hunter2" not in written


def test_a_server_gets_the_same_and_no_secret(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLICY_API_KEY", "sk-only-in-env-5678")
    run = odd_run(offline)
    with serving(Wandb()) as server:
        go_online(server, monkeypatch)
        flags = ("--upload", "wandb", "--output-dir", "sk-only-in-argv-1234")
        done = run_profile(run.rollouts, *flags, cwd=offline)
    assert done.returncode == 0, done.stderr
    name = server.runs[0]["name"]
    assert f"Upload       wandb: {server.url}/me/spotter/runs/{name}\n" in done.stdout
    base = safe_name("odd #1 ü")
    assert server.files[f"{base}.jsonl"] == run.rollouts.read_bytes()
    made = offline / "sk-only-in-argv-1234" / run.agents.name
    assert server.files[f"{base}_agent_metrics.json"] == made.read_bytes()
    assert len(server.committed) == 2
    assert (server.runs[0]["host"], server.runs[0]["program"]) == (None, "spotter")
    last = server.figures[-1]
    assert (last["exitcode"], last["complete"]) == (0, True)
    summary = json.loads(last["files"]["wandb-summary.json"]["content"][-1])
    for figure, value in expected_figures(run).items():
        assert summary[figure] == pytest.approx(value)
    sent = b"".join(server.bodies)
    for secret in (*SECRETS, str(offline)):
        assert secret.encode() not in sent, secret


@pytest.mark.slow
def test_figures_that_do_not_arrive_are_told(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = odd_run(offline)
    with serving(Wandb(figures_status=500)) as server:
        go_online(server, monkeypatch)
        done = run_profile(run.rollouts, "--json", "--upload", "wandb", cwd=offline)
    assert done.returncode == 3
    assert (
        "error: all files are on disk, but not everything was uploaded:"
        " wandb: W&B did not receive all figures" in done.stderr
    )
    assert "give the same command again with --upload wandb" in done.stderr
    (upload,) = uploads_of(done)
    assert (upload["tracker"], "did not receive" in upload["error"]) == ("wandb", True)
    assert len(server.committed) == 2
    assert run.query("select completed_rollout_count from runs") == [(12,)]
    assert run.profiling.is_file()


def test_a_collection_arrives_and_keeps_its_secrets(
    start_gym: GymFactory, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", WANDB_KEY)
    monkeypatch.setenv("POLICY_API_KEY", "sk-only-in-env-5678")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "sk-only-in-env-5678")
    # what people set for their training must not widen what W&B notes of us
    for name, value in {"CONSOLE": "wrap", "SAVE_CODE": "true", "DISABLE_GIT": "false"}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    monkeypatch.setenv("WANDB_RUN_ID", "the-training-run")
    gym = start_gym()
    login = "--agent-url=my_agent=http://sk-only-in-argv-1234:hunter2-in-a-url@"
    done = collect(
        gym,
        write_tasks(offline, 3),
        *(f"{login}127.0.0.1:{gym.port}", "-n", "2", "--json"),
        *("+upload_rollouts=true", "++upload=mlflow"),
    )
    assert done.returncode == 0, done.stderr
    for found in tracked(done):
        assert found.name.endswith("-out")
        assert (found.kind, found.is_failed) == ("collect", False)
        assert found.settings["status"] == "complete"
        assert found.figures["collect/completed_rollout_count"] == 6
        assert found.figures["rollouts/my_agent"] == 6
        assert sorted(found.files) == [
            "rollouts/out.jsonl",
            "rollouts/out_aggregate_metrics.json",
            "rollouts/out_materialized_inputs.jsonl",
        ]
    assert "the-training-run" not in done.stdout
    written = [path for path in offline.rglob("*") if path.is_file()]
    assert any(path.suffix == ".wandb" for path in written)
    assert any("core-debug" in path.name for path in written)
    texts = [done.stdout.encode(), done.stderr.encode(), *(path.read_bytes() for path in written)]
    for secret in SECRETS:
        assert not any(secret.encode() in text for text in texts), secret


def test_a_collection_that_is_stopped_is_not_uploaded(start_gym: GymFactory, offline: Path) -> None:
    gym = start_gym("--remember")
    tasks = write_tasks(offline, [{}, {"seconds": 60}])
    process = start_collect(gym, tasks, "--grace-period=0", "--json", "--upload=wandb")
    while len(gym.stats()["bodies"]) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (upload,) = json.loads(output)["uploads"]
    assert upload == {"tracker": "wandb", "error": "you stopped the collection"}
    assert "spotter profile out.jsonl --allow-partial --upload wandb" in errors


@pytest.mark.slow
def test_an_upload_that_fails_loses_nothing(
    start_gym: GymFactory, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow's server is away; W&B gets the collection, marked as one that has rollouts missing."""
    address = f"me:hunter2-in-a-url@127.0.0.1:{free_port()}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{address}")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    tasks = write_tasks(offline, [{}, {}, {"script": ["422"]}])
    done = collect(start_gym(), tasks, *BOTH)
    assert done.returncode == 3
    assert "2/3 (66.67%)" in done.stdout
    assert "warning: all files are on disk, but not everything was uploaded: mlflow:" in done.stderr
    assert "spotter profile out.jsonl --allow-partial --upload mlflow\n" in done.stderr
    assert "error: 1 rollout of 3 missing" in done.stderr
    (path,) = re.findall(r"^Upload       wandb: (.*)$", done.stdout, re.MULTILINE)
    found = wandb_run(path)
    assert (found.is_failed, found.settings["status"]) == (True, "incomplete")
    assert found.figures["collect/missing_rollout_count"] == 1
    assert found.figures["failed_attempts/agent_run_error"] == 1
    assert "rollouts/out_failures.jsonl" in found.files
    assert re.search(r"not everything was uploaded: mlflow: .*127\.0\.0\.1", done.stderr)
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize("tracker", ["wandb", "mlflow"])
def test_a_package_that_is_missing_is_told_before_any_work(
    offline: Path, monkeypatch: pytest.MonkeyPatch, tracker: str
) -> None:
    hidden = offline / "hidden"
    hidden.mkdir()
    (hidden / f"{tracker}.py").write_text(f"raise ImportError('no module named {tracker}')")
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    run = odd_run(offline)
    done = run_profile(run.rollouts, "--upload", tracker, cwd=offline)
    assert done.returncode == 2
    assert f"pip install '.[{tracker}]'" in done.stderr
    assert not run.warehouse.exists()
    words = ["-a", "a", "-i", "no-tasks.jsonl", "-o", "out.jsonl", "--upload", tracker]
    done = run_command("spotter", "collect", *words, cwd=offline)
    assert (done.returncode, "pip install" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("tracker", "environment", "reason"),
    [
        ("tensorboard", {}, "unknown tracker; choose wandb or mlflow"),
        ("wandb", {"WANDB_MODE": "online"}, "no API key is configured"),
        ("wandb", {"WANDB_MODE": "disabled"}, "W&B's mode is disabled"),
        ("wandb", {"WANDB_BASE_URL": "http://me:hunter2@127.0.0.1:1"}, "contains a login"),
        ("mlflow", {"MLFLOW_ALLOW_FILE_STORE": "false"}, "MLFLOW_ALLOW_FILE_STORE=true"),
        ("mlflow", {"MLFLOW_TRACKING_URI": ""}, "pip install mlflow"),
    ],
    ids=["unknown", "no-key", "disabled", "login", "folder", "database"],
)
def test_a_tracker_that_cannot_work_is_told_before_any_work(
    offline: Path,
    monkeypatch: pytest.MonkeyPatch,
    tracker: str,
    environment: dict[str, str],
    reason: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    run = odd_run(offline)
    done = run_profile(run.rollouts, "--json", "--upload", tracker, cwd=offline)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "hunter2" not in done.stderr
    assert json.loads(done.stdout)["exit_code"] == 2
    assert not run.warehouse.exists()
