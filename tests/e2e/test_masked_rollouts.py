"""Masked rollouts count for no figure, and are never hidden; what else a rollout tells."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support import (
    Profiled,
    Row,
    inputs_of,
    key,
    profiled,
    run_profile,
    write_lines,
    write_run,
)


def masked(task: int, rollout: int, kind: str | None = None, **fields: Any) -> Row:
    why = {"failure_kind": kind, "failure_reason": f"{kind} happened"} if kind else {}
    return key(task, rollout, reward=1, mask_sample=True, **why, **fields)


def write_masked(folder: Path, *, missing: int = 0) -> Profiled:
    """Three tasks of four rollouts, of which task 0 has one masked and task 1 nothing else."""
    rows = [
        *(key(0, index, reward=index % 2) for index in range(3)),
        masked(0, 3, "judge_failed"),
        *(masked(1, index, "provider_unavailable") for index in range(4)),
        *(key(2, index, reward=0) for index in range(4)),
    ]
    return write_run(folder, rows[: len(rows) - missing], inputs=inputs_of(rows))


@dataclass(frozen=True)
class Profile:
    """A profile that no test changes, and what the command said."""

    run: Profiled
    result: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    run = write_masked(tmp_path_factory.mktemp("masked"))
    return Profile(run, run_profile(run.rollouts, cwd=run.rollouts.parent))


@pytest.fixture
def run(profile: Profile) -> Profiled:
    assert profile.result.returncode == 0, profile.result.stderr
    return profile.run


@pytest.fixture
def copied(run: Profiled, workspace: Path) -> Path:
    """A copy of the warehouse, which a test may change."""
    return Path(shutil.copy(run.warehouse, workspace))


def test_every_mart_counts_them_and_none_takes_them_in(run: Profiled) -> None:
    (counts,) = run.table("select * from runs")
    assert (counts["completed_rollout_count"], counts["completion_pct"]) == (12, 100.0)
    assert (counts["measured_rollout_count"], counts["masked_rollout_count"]) == (7, 5)
    assert counts["masked_task_count"] == 1
    (agent,) = run.table("select * from agent_reliability")
    assert (agent["masked_rollout_count"], agent["clean_rollout_count"]) == (5, 7)
    assert agent["reward_mean"] == pytest.approx(1 / 7)
    assert agent["reward_mean_lowest"] == pytest.approx(1 / 12)
    assert agent["reward_mean_highest"] == pytest.approx(6 / 12)
    assert run.query("select avg(reward), count(reward) from rollout_infos") == [(1 / 7, 7)]
    assert run.query("select count(*) from rollout_health") == [(7,)]
    counts_of = "select task_index, measured_rollout_count, masked_rollout_count from task_profiles"
    assert sorted(run.query(counts_of)) == [(0, 3, 1), (1, 0, 4), (2, 4, 0)]


def test_why_they_were_masked_is_a_mart(run: Profiled) -> None:
    kinds = run.query(
        "select failure_kind, rollout_count, task_count, example_reason from mask_kinds"
    )
    assert sorted(kinds) == [
        ("judge_failed", 1, 1, "judge_failed happened"),
        ("provider_unavailable", 4, 1, "provider_unavailable happened"),
    ]


def test_the_terminal_says_how_many_and_why(profile: Profile) -> None:
    result = profile.result
    assert "Rollouts     12/12 (100.00%), 5 of them masked" in result.stdout
    assert "1 with nothing but masked rollouts" in result.stdout
    assert "4 provider_unavailable, 1 judge_failed" in result.stdout
    assert (
        "masked 5 of 12 completed rollouts: 4 provider_unavailable, 1 judge_failed" in result.stderr
    )
    assert (
        "with all rollouts measured, the mean could be: agent_a 0.0833 to 0.5000" in result.stderr
    )


def test_scripts_get_the_same(workspace: Path) -> None:
    run = write_masked(workspace, missing=1)
    result = run_profile(run.rollouts, "--json", "--allow-partial", cwd=workspace)
    (data,) = json.loads(result.stdout)["runs"]
    assert (data["measured_rollout_count"], data["masked_rollout_count"]) == (6, 5)
    assert data["missing_rollout_count"] == 1
    assert Path(data["repeat_level_metrics"]) == run.repeats
    (agent,) = data["agents"]
    assert {mask["failure_kind"] for mask in agent["masks"]} == {
        "judge_failed",
        "provider_unavailable",
    }


def test_failures_count_as_zero_beside_the_plain_mean(workspace: Path) -> None:
    rows = [key(0, index, reward=1) for index in range(4)]
    run = write_run(workspace, rows[:2], inputs=inputs_of(rows))
    write_lines(run.failures, [key(0, 2, _ng_failure_class="agent_timeout", _ng_attempt_index=1)])
    result = run_profile(
        run.rollouts,
        "--allow-partial",
        "--count-failure-classes-as-zero=agent_timeout",
        cwd=workspace,
    )
    assert "the mean is 0.6667 with 1 missing rollout counted as 0, 1.0000 without" in result.stdout
    zeros = "select reward_mean, zero_rollout_count, reward_mean_with_zeros from agent_reliability"
    assert run.query(zeros) == [(1.0, 1, pytest.approx(2 / 3))]


def test_a_failure_with_a_reward_counts_with_it_and_old_names_are_understood(
    workspace: Path,
) -> None:
    rows = [key(0, index, reward=1) for index in range(4)]
    run = write_run(workspace, rows[:2], inputs=inputs_of(rows))
    write_lines(
        run.failures,
        [
            key(0, 2, _ng_failure_class="timeout", _ng_attempt_index=1, reward=0.5),
            key(0, 3, _ng_failure_class="agent_failure", _ng_attempt_index=1),
        ],
    )
    zeros = "select zero_rollout_count, reward_mean_with_zeros from agent_reliability"
    for name in ("timeout", "transport_timeout"):
        profiled(run, "--allow-partial", f"--count-failure-classes-as-zero={name}")
        assert run.query(zeros) == [(1, pytest.approx(2.5 / 3))]


def test_a_class_that_no_failure_has_is_told(workspace: Path) -> None:
    rows = [key(0, index, reward=1) for index in range(2)]
    run = write_run(workspace, rows[:1], inputs=inputs_of(rows))
    write_lines(run.failures, [key(0, 1, _ng_failure_class="agent_timeout")])
    options = ("--allow-partial", "--count-failure-classes-as-zero=agent_timeoot")
    result = run_profile(run.rollouts, *options, cwd=workspace)
    assert "failure class agent_timeoot" in result.stderr
    assert "the classes of its failures are: agent_timeout" in result.stderr


def test_zeros_count_as_the_run_was_collected(workspace: Path) -> None:
    rows = [key(0, index, reward=1) for index in range(4)]
    run = write_run(workspace, rows[:2], inputs=inputs_of(rows))
    settings = {"count_missing_rollouts_as_zero": True, "count_failure_classes_as_zero": []}
    run.rollouts.with_name("run_run.json").write_text(json.dumps({"settings": settings}))
    profiled(run, "--allow-partial")
    zeros = "select zero_rollout_count, reward_mean_with_zeros from agent_reliability"
    assert run.query(zeros) == [(2, 0.5)]


def response(model: str, *, cached: int) -> Row:
    usage = {
        "input_tokens": 1_000_000,
        "output_tokens": 500_000,
        "input_tokens_details": {"cached_tokens": cached},
    }
    return {"model": model, "usage": usage, "output": [{"type": "message", "content": "x"}]}


def test_prices_give_the_cost_of_a_rollout_and_of_a_pass(workspace: Path) -> None:
    rows = [
        key(0, 0, reward=1, response=response("known", cached=0)),
        key(0, 1, reward=0, response=response("known", cached=500_000)),
    ]
    run = write_run(workspace, rows, inputs=inputs_of(rows))
    Path("prices.yml").write_text("known: {input: 2, output: 4, cached_input: 1}\n")
    result = run_profile(run.rollouts, "--prices", "prices.yml", cwd=workspace)
    assert result.returncode == 0, result.stderr
    assert run.query("select cost from rollout_infos order by rollout_index") == [(4.0,), (3.5,)]
    assert run.query("select cost_total, cost_per_pass from agent_efforts") == [(7.5, 7.5)]
    assert "cost 3.75; a pass costs 7.5" in result.stdout


def test_a_cost_without_some_of_the_rollouts_is_no_total(workspace: Path) -> None:
    rows = [
        key(0, 0, reward=1, response=response("known", cached=0)),
        key(0, 1, reward=1, response=response("unknown", cached=0)),
    ]
    run = write_run(workspace, rows, inputs=inputs_of(rows))
    Path("prices.yml").write_text("known: {input: 2, output: 4}\n")
    told = run_profile(run.rollouts, "--prices", "prices.yml", cwd=workspace)
    assert "1 rollout without a cost, of the models unknown" in told.stderr
    costs = "select priced_rollout_count, cost_mean, cost_total, cost_per_pass from agent_efforts"
    assert run.query(costs) == [(1, 4.0, None, None)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m: {input: free, output: 1}", "m.input is not a number"),
        ("m: {input: true, output: 1}", "m.input is not a number"),
        ("m: {input: .inf, output: 1}", "m.input is not finite"),
        ("m: {input: 1}", "m.output is missing"),
        ("m: {input: 1, output: 1, cache: 1}", "m.cache is unknown"),
        ("m: {input: -1, output: 1}", "m.input is negative"),
        ("1: {input: 1, output: 1}", "1 is not the name of a model"),
        ("m: 1", "m is not a price"),
        ("[1]", "has no prices"),
        ("", "has no prices"),
        ("a: [", "not valid YAML (line "),
    ],
)
def test_bad_prices_are_named(workspace: Path, text: str, said: str) -> None:
    run = write_masked(workspace)
    Path("prices.yml").write_text(text)
    result = run_profile(run.rollouts, "--prices", "prices.yml", cwd=workspace)
    assert result.returncode == 2
    assert said in result.stderr
    assert not run.warehouse.exists()


def test_a_cost_beyond_all_numbers_is_none(workspace: Path) -> None:
    rows = [key(0, 0, reward=1, response=response("known", cached=0))]
    run = write_run(workspace, rows, inputs=inputs_of(rows))
    Path("prices.yml").write_text("known: {input: 1.0e+308, output: 1.0e+308}\n")
    profiled(run, "--prices", "prices.yml")
    assert run.query("select cost from rollout_infos") == [(None,)]


def test_prices_that_are_not_there_are_an_error(workspace: Path) -> None:
    run = write_masked(workspace)
    result = run_profile(run.rollouts, "--prices", "none.yml", cwd=workspace)
    assert (result.returncode, "none.yml" in result.stderr) == (4, True)


VERDICTS = [
    {
        "_ng_task_index": 0,
        "_ng_rollout_index": 1,
        "verdict": "unhealthy",
        "findings": [{"check": "b"}, {"check": "a"}],
    },
    {"_ng_task_index": 0, "_ng_rollout_index": 0, "verdict": "healthy", "findings": []},
]


def test_verdicts_of_the_health_check_stand_beside_the_findings(workspace: Path) -> None:
    run = write_masked(workspace)
    of_another_stage = VERDICTS[0] | {"findings": [{"check": "b"}, {"check": "c"}, {"check": None}]}
    write_lines(workspace / "rollout_verdicts.jsonl", [*VERDICTS, of_another_stage])
    profiled(run)
    told = "select gym_verdict, gym_findings from rollout_health where task_index = 0"
    assert run.query(f"{told} order by rollout_index") == [
        ("healthy", None),
        ("unhealthy", "a, b, c"),
        (None, None),
    ]


BROKEN_VERDICTS = [b"not JSON", b"{", b'{"_ng_task_index": 0, "verdict": "healthy"}']


@pytest.mark.parametrize("broken", BROKEN_VERDICTS, ids=["text", "cut short", "no index"])
def test_a_verdict_that_cannot_be_read_is_named(workspace: Path, broken: bytes) -> None:
    run = write_masked(workspace)
    path = workspace / "rollout_verdicts.jsonl"
    write_lines(path, [*VERDICTS, broken])
    result = run_profile(run.rollouts, "--allow-partial", cwd=workspace)
    assert (result.returncode, f"{path}:3: " in result.stderr) == (4, True)


def test_verdicts_that_only_python_can_read_are_read(workspace: Path) -> None:
    run = write_masked(workspace)
    lines = [orjson.dumps(verdict) for verdict in VERDICTS]
    repeated = lines[0].replace(b"{", b'{"verdict": "healthy", ', 1)
    write_lines(workspace / "rollout_verdicts.jsonl", [b"\xef\xbb\xbf" + repeated, lines[1]])
    profiled(run)
    assert run.query(
        "select gym_verdict from rollout_health where task_index = 0 order by rollout_index"
    ) == [("healthy",), ("unhealthy",), (None,)]


def test_verdicts_that_could_be_of_another_run_are_left_alone(workspace: Path) -> None:
    run = write_masked(workspace)
    write_lines(workspace / "rollout_verdicts.jsonl", VERDICTS)
    (workspace / "other_materialized_inputs.jsonl").touch()
    profiled(run)
    assert run.query("select count(gym_verdict) from rollout_health") == [(0,)]


NEIGHBOURS = (
    "rollout_verdicts.jsonl",
    "quality_summary.json",
    "compare_report.json",
    "compare_report.md",
    "run_repeat_level_metrics.json",
    "run_manifest.json",
    "run_coverage.json",
    "run_attempts.jsonl",
)


@pytest.mark.parametrize("named", ["folder", "files"])
def test_files_beside_a_run_are_never_runs(workspace: Path, named: str) -> None:
    run = write_masked(workspace)
    for name in NEIGHBOURS:
        (workspace / name).write_text("{}\n")
        if name.endswith(".jsonl"):  # even with what looks like inputs
            inputs = name.removesuffix(".jsonl") + "_materialized_inputs.jsonl"
            (workspace / inputs).write_text("{}\n")
    given = [workspace] if named == "folder" else sorted(workspace.iterdir())
    result = run_profile(*given, "--json", cwd=workspace)
    assert result.returncode == 0, result.stderr
    assert [one["rollouts"] for one in json.loads(result.stdout)["runs"]] == [str(run.rollouts)]
