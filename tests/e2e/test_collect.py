"""`spotter collect` against a server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from collector.collection import run_rollouts
from collector.errors import ServerError, UsageError
from tests.collecting import collected
from tests.gym import (
    AGENT,
    GymFactory,
    assert_whole,
    collect,
    keys_of,
    rows_of,
    write_tasks,
)
from tests.gym_server import SECRET
from tests.programs import run_command
from tests.support import Profiled, Row, run_profile

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def run(workspace: Path) -> Profiled:
    return Profiled(workspace / "out.jsonl")


def record_of(run: Profiled) -> Row:
    record: Row = json.loads(run.rollouts.with_name("out_run.json").read_text(encoding="utf-8"))
    return record


def test_the_whole_workflow(start_gym: GymFactory, workspace: Path, run: Profiled) -> None:
    gym = start_gym("--remember")
    tasks = write_tasks(workspace, 5)
    done = run_command(
        "ng_collect_rollouts",
        *(f"+agent_name={AGENT}", "+input_jsonl_fpath=tasks.jsonl", "+num_repeats=4"),
        *("+output_jsonl_fpath=out.jsonl", "+limit=3", "+num_samples_in_parallel=2"),
        *(
            "'+responses_create_params={temperature: 0.7}'".strip("'"),
            "+head_server.host=127.0.0.1",
        ),
        *("++responses_create_params.max_output_tokens=1e3", f"++head_server.port={gym.port}"),
        cwd=workspace,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "12/12 (100.00%)" in done.stdout
    assert "mean/reward  0.5000" in done.stdout
    assert "spotter profile out.jsonl" in done.stdout
    assert_whole(run, 12)
    row = rows_of(run.rollouts)[0]
    assert row["agent_ref"] == {"name": AGENT}
    assert row["responses_create_params"]["temperature"] == 0.7
    assert row["responses_create_params"]["max_output_tokens"] == 1000
    metrics = json.loads(run.rollouts.with_name("out_aggregate_metrics.json").read_text())
    assert metrics[0]["agent_ref"] == {"name": AGENT}
    assert metrics[0]["key_metrics"] == {"mean/reward": 0.5}
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0
    sent = gym.stats()
    assert sent["most_active"] <= 2
    assert sorted(keys_of(sent["bodies"])) == sorted(keys_of(rows_of(run.inputs)))
    for headers in sent["headers"]:
        assert headers["Content-Type"] == "application/json"
        assert "Cookie" not in headers
    aggregated = sent["aggregated"][0]["rows"]
    assert keys_of(aggregated) == sorted(keys_of(aggregated))
    assert all(row["response"] == {"usage": row["response"]["usage"]} for row in aggregated)
    assert not any(
        {"responses_create_params", "_spotter_latency_ms"} & {*row} for row in aggregated
    )
    assert tasks.exists()


def test_the_collector_records_how_long_each_rollout_took(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--latency=0.05")
    assert collect(gym, write_tasks(workspace, 2), "+num_repeats=2").returncode == 0
    seen = {(row["_ng_task_index"], row["_ng_rollout_index"]): row for row in rows_of(run.rollouts)}
    assert all(50 <= row["_spotter_latency_ms"] < 60_000 for row in seen.values())
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0
    infos = run.query("select task_index, rollout_index, latency_ms from rollout_infos")
    assert {(task, index): ms for task, index, ms in infos} == {
        key: row["_spotter_latency_ms"] for key, row in seen.items()
    }
    assert not run.query("select * from rollout_metrics where metric like '%latency%'")
    assert all(
        b"latency" not in path.read_bytes() for path in (run.profiling, run.agents, run.repeats)
    )


def test_settings_of_nemo_gym_that_mean_nothing_here_are_accepted(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    done = run_command(
        *("ng_collect_rollouts", f"+agent_name={AGENT}", "+output_jsonl_fpath=out.jsonl"),
        *(f"+input_jsonl_fpath={write_tasks(workspace, 2)}", f"+head_server.port={gym.port}"),
        *("+max_resident_rollout_tasks=4", "+retain_results_in_memory=false", "+verbose=true"),
        *("+health_check_workers=2", "+disable_health_check=true", "+interleave_repeats=true"),
        *("+global_aiohttp_connector_limit=9", "+route_failures_to_sidecar=true"),
        cwd=workspace,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("note: without effect here: max_resident_rollout_tasks (")
    assert "route_failures_to_sidecar (failures always go to the failures file)" in line
    assert_whole(run, 2)
    refused = run_command("spotter", "collect", "+rollout_collection_driver=a:b", cwd=workspace)
    assert refused.returncode == 2
    assert "collects in its own way" in refused.stderr


def test_the_flags_of_gym_eval_run_are_settings_too(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    write_tasks(workspace, 2)
    model = ("--temperature", "0.5", "--top-p=0.9", "--max-output-tokens", "64")
    base = ("--agent", AGENT, "--concurrency", "1", *model, start_gym().agent_url)
    files = ("+input_jsonl_fpath=tasks.jsonl", "+output_jsonl_fpath=out.jsonl")
    done = run_command("ng_collect_rollouts", *base, *files, cwd=workspace)
    assert done.returncode == 0, done.stderr
    for row in rows_of(run.inputs):
        assert row["agent_ref"]["name"] == AGENT
        sent = row["responses_create_params"]
        assert (sent["temperature"], sent["top_p"], sent["max_output_tokens"]) == (0.5, 0.9, 64)


def test_attempts_are_limited_by_the_environment_too(
    start_gym: GymFactory, workspace: Path, run: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", "2")
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["500"]}, {}])
    assert collect(gym, tasks).returncode == 3
    assert len(rows_of(run.failures)) == 2
    assert collect(gym, tasks, "--resume", "--max-attempts=3").returncode == 3
    assert len(rows_of(run.failures)) == 3
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", "many")
    assert collect(gym, tasks, "--resume").returncode == 2


def test_json_for_scripts(start_gym: GymFactory, workspace: Path) -> None:
    done = collect(start_gym(), write_tasks(workspace, 2), "--json", "-n", "2")
    told = json.loads(done.stdout)
    assert told["status"] == "complete"
    assert told["completed_rollout_count"] == 4
    assert told["agents"] == [
        {
            "agent_name": AGENT,
            "rollout_count": 4,
            "masked_rollout_count": 0,
            "reward_mean": 0.5,
        }
    ]
    assert Path(told["rollouts"]).is_file()


@pytest.mark.parametrize(
    ("script", "kind", "attempts", "is_terminal"),
    [
        (["500"], "agent_run_error", 2, False),
        (["drop"], "transport_peer_drop", 2, False),
        (["garbage"], "agent_request_failed", 2, False),
        (["malformed"], "agent_run_error", 2, False),
        (["[]"], "agent_run_error", 2, False),
        (["hang"], "transport_timeout", 2, False),
        (["503"], "agent_request_failed", 2, False),
        (["422"], "agent_run_error", 1, True),
        (["404"], "agent_run_error", 1, False),
        (['{"_ng_failure_class": "transient", "reward": 0.0}'], "transient", 1, False),
        (['{"_ng_failure_class": "skipped", "_ng_failure_terminal": true}'], "skipped", 1, True),
        (['{"_ng_failure_class": true}'], "agent_run_error", 1, False),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_failure_is_kept_and_the_run_goes_on(
    start_gym: GymFactory,
    workspace: Path,
    run: Profiled,
    script: list[str],
    kind: str,
    attempts: int,
    is_terminal: bool,
) -> None:
    if script == ["[]"]:
        script = ["200"]  # an answer that is JSON, but no object
    tasks = write_tasks(workspace, [{"script": script}, {}, {}])
    done = collect(start_gym(), tasks, "--max-attempts=2", "--request-timeout=1")
    assert done.returncode == 3
    assert "1 rollout of 3 missing; the last failure was" in done.stderr
    assert sorted(keys_of(rows_of(run.rollouts))) == [(1, 0), (2, 0)]
    failures = rows_of(run.failures)
    assert [row["_ng_failure_class"] for row in failures] == [kind] * attempts
    assert [row["_ng_attempt_index"] for row in failures] == list(range(attempts))
    assert bool(failures[-1].get("_ng_failure_terminal")) is is_terminal
    assert failures[0]["agent_ref"] == {"name": AGENT}
    assert len(run.failures.read_bytes()) < 12_000
    profiled = run_profile("out.jsonl", "--allow-partial", cwd=workspace)
    assert profiled.returncode == 0
    assert f"{attempts} failed attempt" in profiled.stdout


def test_a_passing_failure_is_tried_again(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym("--remember")
    rows = [{"script": ["500", "drop", "ok"]}, {"script": ["429"] * 5 + ["ok"]}]
    done = collect(gym, write_tasks(workspace, rows))
    assert done.returncode == 0
    assert_whole(run, 2)
    assert [row["_ng_failure_class"] for row in rows_of(run.failures)] == [
        "agent_run_error",
        "transport_peer_drop",
    ]
    first = [row for row in gym.stats()["bodies"] if row["_ng_task_index"] == 0]
    assert [row.get("_ng_attempt_index") for row in first] == [None, 1, 2]
    kept = {row["_ng_task_index"]: row for row in rows_of(run.rollouts)}
    assert kept[0]["_ng_attempt_index"] == 2
    assert "_ng_attempt_index" not in kept[1]


def test_what_an_agent_does_not_want_kept_is_run_again_on_resume(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ['{"_ng_no_persist": true}', "ok"]}, {}])
    assert collect(gym, tasks).returncode == 3
    assert keys_of(rows_of(run.rollouts)) == [(1, 0)]
    assert not run.failures.exists()
    assert collect(gym, tasks, "--resume").returncode == 0
    assert_whole(run, 2)


def test_resume_tries_failures_again_until_they_are_out_of_attempts(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    failing = '{"_ng_failure_class": "transient"}'
    tasks = write_tasks(workspace, [{"script": [failing]}, {"script": ["422"]}, {}])
    for attempt, expected in enumerate([1, 2, 3, 3]):
        flags = ["--resume"] if attempt else []
        assert collect(gym, tasks, *flags).returncode == 3
        assert gym.stats()["seen"] == {"0:0": expected, "1:0": 1, "2:0": 1}
    assert [row["_ng_attempt_index"] for row in rows_of(run.failures)].count(0) == 2
    assert collect(gym, tasks, "--resume", "--max-attempts=4").returncode == 3
    assert gym.stats()["seen"]["0:0"] == 4
    statuses = [session["status"] for session in record_of(run)["sessions"]]
    assert statuses == ["incomplete"] * 5


def test_nothing_is_overwritten_unless_asked(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["422", "ok"]}, {}])
    assert collect(gym, tasks).returncode == 3
    before = run.rollouts.read_bytes(), run.failures.read_bytes()
    again = collect(gym, tasks)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    assert "--overwrite" in again.stderr
    assert before == (run.rollouts.read_bytes(), run.failures.read_bytes())
    # what fails before the first request loses nothing either
    assert collect(gym, tasks, "--overwrite", "-n", "0").returncode == 2
    failed = collect(gym, tasks, "--overwrite", "--agent-url=other=http://x", "--head-port=1")
    assert failed.returncode == 3
    assert before == (run.rollouts.read_bytes(), run.failures.read_bytes())
    assert collect(gym, tasks, "--overwrite").returncode == 0
    assert_whole(run, 2)
    assert not run.failures.exists()


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["-a", "else"], 'agent_name: it was "my_agent", now "else"'),
        (["--num-repeats-add-seed"], "num_repeats_add_seed"),
        (["--responses-create-params", "{temperature: 1}"], "responses_create_params: it was {}"),
        (["-n", "1"], "num_repeats: it was 2 for my_agent"),
        (["--limit", "1"], "limit: it was 2, and can only grow"),
        (["--prompt-config", "prompt.yaml"], "prompt_config: it was not given"),
        (["-i", "other.jsonl"], "other.jsonl has other content"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_resume_refuses_other_settings(
    start_gym: GymFactory, workspace: Path, run: Profiled, flags: list[str], named: str
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 3)
    write_tasks(workspace, 4, "other.jsonl")
    (workspace / "prompt.yaml").write_text("user: hello", encoding="utf-8")
    assert collect(gym, tasks, "-n", "2", "--limit", "2").returncode == 0
    before = run.rollouts.read_bytes()
    done = collect(gym, tasks, "-n", "2", "--limit", "2", "--resume", *flags)
    assert done.returncode == 2
    assert named in done.stderr
    assert run.rollouts.read_bytes() == before


def test_more_repeats_or_a_higher_limit_top_the_run_up(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 4)
    assert collect(gym, tasks, "-n", "2", "--limit", "2").returncode == 0
    first = run.rollouts.read_bytes()
    assert collect(gym, tasks, "-n", "3", "--limit", "2", "--resume").returncode == 0
    assert_whole(run, 6)
    assert collect(gym, tasks, "-n", "{my_agent: 3}", "--resume").returncode == 0
    assert_whole(run, 12)
    assert run.rollouts.read_bytes().startswith(first)
    assert set(gym.stats()["seen"].values()) == {1}
    assert record_of(run)["materialized"]["rollout_count"] == 12
    assert len(record_of(run)["sessions"]) == 3
    assert run_profile("out.jsonl", cwd=workspace).returncode == 0


def test_a_run_of_nemo_gyms_collector_can_be_resumed(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    """There is no record then, but the rows to run tell whether it is the same run."""
    gym = start_gym()
    tasks = write_tasks(workspace, 3)
    assert collect(gym, tasks).returncode == 0
    run.rollouts.with_name("out_run.json").unlink()
    lines = run.rollouts.read_bytes().splitlines(keepends=True)
    run.rollouts.write_bytes(lines[0] + b"\n" + lines[1])
    assert collect(gym, tasks, "--resume").returncode == 0
    assert len(rows_of_tolerantly(run.rollouts)) == 3


def test_a_run_of_nemo_gyms_collector_can_be_topped_up(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 4)
    assert collect(gym, tasks, "--limit", "2", "-n", "2", "--interleave-repeats").returncode == 0
    run.rollouts.with_name("out_run.json").unlink()
    for flags, named in (
        (("--limit", "1", "-n", "2"), "limit or input_jsonl_fpath: it had 2 tasks, now 1"),
        (("--limit", "2"), "num_repeats: it had 4 rollouts, now 2 of them"),
        (("-n", "2", "--responses-create-params", "{top_p: 1}"), "responses_create_params: the"),
        (("-n", "2", "--num-repeats-add-seed"), "num_repeats_add_seed or responses_create"),
        (("-n", "2", "--agent-map", "{my_agent: x}", "-a", "x"), "agent_name: the rows of the"),
    ):
        refused = collect(gym, tasks, "--resume", *flags)
        assert refused.returncode == 2
        assert named in refused.stderr
    assert_whole(run, 4)
    assert collect(gym, tasks, "--limit", "3", "-n", "3", "--resume").returncode == 0
    assert_whole(run, 9)
    assert set(gym.stats()["seen"].values()) == {1}
    assert record_of(run)["materialized"]["rollout_count"] == 9
    assert collect(gym, tasks, "-n", "3", "--resume").returncode == 0
    assert_whole(run, 12)


def rows_of_tolerantly(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def test_resume_without_a_run_starts_one(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    assert collect(start_gym(), write_tasks(workspace, 2), "--resume").returncode == 0
    assert_whole(run, 2)


def test_mixed_rows_of_one_task_cannot_be_topped_up(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"_ng_task_index": 7}, {"_ng_task_index": 7}])
    assert collect(gym, tasks).returncode == 0
    done = collect(gym, tasks, "-n", "2", "--resume")
    assert done.returncode == 2
    assert "share a task index" in done.stderr


def test_secrets_appear_nowhere(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym("--aggregate-status=500")
    rows: list[Row] = [
        {"script": ["500"]},
        {"script": ["leak"]},
        {"agent_ref": {"name": "lost_agent"}},
    ]
    tasks = write_tasks(workspace, rows[:2])
    head = ("--agent-url=unused=http://me:hunter2hunter2@127.0.0.1:1", f"--head-port={gym.port}")
    done = collect(gym, tasks, *head, "--max-attempts=1")
    assert done.returncode == 3
    assert "not aggregated" in done.stderr
    lost = collect(gym, write_tasks(workspace, rows[2:], "lost.jsonl"), *head, output="lost.jsonl")
    assert "is the input" in lost.stderr
    lost = collect(
        gym, workspace / "lost.jsonl", *head, "-a", "lost_agent", output="lost_out.jsonl"
    )
    assert lost.returncode == 3
    assert "no host and port for agent lost_agent" in lost.stderr
    texts = [path.read_text(encoding="utf-8") for path in workspace.iterdir() if path.is_file()]
    for text in [*texts, done.stdout, done.stderr, lost.stderr]:
        assert SECRET not in text
        assert "hunter2" not in text
    assert any("[redacted]" in text for text in texts)


def test_a_secret_among_the_settings_is_refused(start_gym: GymFactory, workspace: Path) -> None:
    params = "{extra_headers: {Authorization: Bearer abc}}"
    tasks = write_tasks(workspace, 1)
    done = collect(start_gym(), tasks, "--responses-create-params", params)
    assert done.returncode == 2
    assert "extra_headers.Authorization looks like a secret" in done.stderr
    assert "abc" not in done.stderr


def test_an_unknown_agent_names_the_known_ones(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 1)
    head = ("--agent-url=unused=http://127.0.0.1:1", f"--head-port={gym.port}")
    done = collect(gym, tasks, *head, "-a", "my_agnt")
    assert done.returncode == 2
    assert "did you mean my_agent?" in done.stderr
    assert "other_agent" in done.stderr
    assert sorted(path.name for path in workspace.iterdir()) == ["tasks.jsonl"]


def test_an_error_is_json_for_scripts_too(workspace: Path) -> None:
    command = ("collect", "-a", "a", "-i", "no.jsonl", "-o", "out.jsonl", "--json")
    done = run_command("spotter", *command, cwd=workspace)
    assert done.returncode == 4
    assert json.loads(done.stdout)["exit_code"] == 4
    assert "no.jsonl" in json.loads(done.stdout)["error"]


def test_nothing_listening_ends_the_run_early(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    gym.kill()
    done = collect(gym, write_tasks(workspace, 3))
    assert done.returncode == 3
    assert "agent my_agent cannot be reached" in done.stderr
    assert sorted(path.name for path in workspace.iterdir()) == ["tasks.jsonl"]


@pytest.mark.parametrize("status", [404, 422])
def test_a_run_that_only_fails_is_ended_early(
    start_gym: GymFactory, workspace: Path, status: int
) -> None:
    tasks = write_tasks(workspace, [{"script": [str(status)]} for _ in range(200)])
    done = collect(start_gym(), tasks, "-p", "4")
    assert done.returncode == 3
    assert "the first 50 rollouts all failed" in done.stderr
    assert f"HTTP {status}" in done.stderr
    assert "--resume runs the rest" in done.stderr
    assert ("--max-attempts" in done.stderr) == (status == 404)
    assert "--resume" in done.stdout


def test_a_failing_aggregation_loses_nothing(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    done = collect(start_gym("--aggregate-status=500"), write_tasks(workspace, 2))
    assert done.returncode == 0
    assert "answered 500" in done.stderr
    assert_whole(run, 2)


def test_two_agents_are_collected_together(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{}, {"agent_ref": {"name": "other_agent"}}])
    urls = (f"--agent-url=other_agent={gym.url}/", gym.agent_url)
    done = collect(gym, tasks, *urls, "--agent-map={other_agent: other_agent}")
    assert done.returncode == 0
    assert {row["agent_ref"]["name"] for row in rows_of(run.rollouts)} == {AGENT, "other_agent"}
    metrics = json.loads(run.rollouts.with_name("out_aggregate_metrics.json").read_text())
    assert [entry["agent_metrics"]["count"] for entry in metrics] == [1, 1]


def test_rows_keep_what_they_carry(start_gym: GymFactory, workspace: Path, run: Profiled) -> None:
    numbers = '{"reward": 1.0, "big": 123456789012345678901234, "half": "\\ud83d",\n "small": 1e-7}'
    row = {"skills_ref": {"hash": "x"}, "_ng_rollout_id": "r1", "script": [numbers]}
    assert (
        collect(start_gym(), write_tasks(workspace, [row]), "--disable-aggregation").returncode == 0
    )
    (kept,) = rows_of(run.rollouts)
    assert kept["skills_ref"] == {"hash": "x"}
    assert kept["_ng_rollout_id"] == "r1"
    assert kept["half"] == "\ud83d"


def test_the_python_api_yields_results_as_they_arrive(start_gym: GymFactory) -> None:
    gym = start_gym()
    rows = [
        {"agent_ref": {"name": AGENT}, "responses_create_params": {}, "script": [move]}
        for move in ("ok", "422", '{"_ng_no_persist": true}')
    ]

    async def gather() -> list[tuple[int, bool, str | None]]:
        return [
            (
                result.row["_ng_task_index"],
                result.answer is not None and result.answer["reward"] == 0.0,
                result.failure.kind if result.failure else None,
            )
            async for result in run_rollouts(rows, head_port=gym.port)
        ]

    assert sorted(asyncio.run(gather())) == [
        (0, True, None),
        (1, False, "agent_run_error"),
        (2, False, None),
    ]


def test_the_python_api_names_what_is_wrong(start_gym: GymFactory) -> None:
    gym = start_gym()

    async def first(row: Row, port: int) -> None:
        async for _ in run_rollouts([row], head_port=port, agent_urls=None):
            return

    with pytest.raises(UsageError, match="row 0 cannot be run: no agent_ref"):
        asyncio.run(first({}, gym.port))
    gym.kill()
    with pytest.raises(ServerError, match="no head server"):
        asyncio.run(first({}, gym.port))


def test_signals_mean_the_same_after_a_collection_as_before(
    start_gym: GymFactory, workspace: Path
) -> None:
    def ours(*_: object) -> None:
        """Stand for the handler of the command line."""

    tasks = write_tasks(workspace, 1)
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, ours) for number in numbers}
    try:
        collected(start_gym(), tasks, agent_name=AGENT)
        assert [signal.getsignal(number) for number in numbers] == [ours, ours]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
