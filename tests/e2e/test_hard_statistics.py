"""Files that DuckDB cannot read as they are: their statistics are those of a clean file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.responses import calls, logged, response, says, thinks
from tests.support import MARTS, Profiled, Row, inputs_of, key, run_profile, write_lines, write_run

ANSWERS: tuple[Any, ...] = (
    7,
    7.0,
    "7",
    1e2,
    10**30,
    True,
    "é\n\"'",
    {"a": [1, 2.50]},
    [],
    "x" * 300,
    None,
    7,
    8,
    9,
)
RESPONSES = (
    response(says("same"), id="1"),
    response(says("same"), id="2"),
    response(says("\u00e9 \U0001f600"), status="completed", incomplete_details=None),
    response(says("cut"), status="incomplete"),
    response(says("cut too"), incomplete_details={"reason": "length"}),
    response(thinks("hm")),
    response(),
    response(calls('{"x": 1.0}'), calls("{}", status="incomplete")),
    response(logged("a", logprob=-0.10)),
    response(logged("a", logprob=-0.1)),
    response(
        says("metered"),
        model="m",
        usage={
            "output_tokens": 3,
            "seconds": "hidden",
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    ),
    response(says("unmetered"), usage=None),
    response(says(" \n"), usage={"output_tokens": 2.50, "seconds": 1e2}),
    {"response": None},
)
PLAIN = b'"note":"x\xef\xbf\xbdy"'
UNREADABLE = {
    "field_twice": b'"note":"z",' + PLAIN,
    "lone_surrogate": b'"note":"x\\ud800y"',
}
FILES = ("rollouts", "inputs", "failures")
CASES = [f"{file}_with_{how}" for how in (*UNREADABLE, "byte_order_mark") for file in FILES]
RARE = (
    "is_reward_contradicted",
    "is_tool_call_open",
    "is_final_answer_empty",
    "is_turn_limit_reached",
    "is_failure_reported",
)
"""Flags that no rollout here has."""
SAME = [mart for mart in MARTS if mart != "runs"]


def rollouts() -> list[Row]:
    """Three tasks: one that is failed alike, and two with answers and responses of all kinds."""
    rows = []
    for index, (answer, said) in enumerate(zip(ANSWERS, RESPONSES, strict=True)):
        reward = index % 3 / 2
        rows += [
            key(0, index, reward=0, extracted_answer="5", category="ignored", level=1e2, **said),
            key(1, index, reward=reward, extracted_answer=answer, category=False, **said),
            key(2, index, reward=reward, extracted_answer=answer, **said),
        ]
        rows[-1]["agent_ref"] = {"name": "агент"}
    masked = {"mask_sample": True, "failure_kind": "judge_failed", "failure_reason": "é"}
    return [*rows, key(3, 0, reward=1, seconds=4, **masked)]


def noted(row: Row) -> bytes:
    """A line that begins with a note."""
    return b"{" + PLAIN + b"," + json.dumps(row).encode()[1:]


def write_clean(folder: Path, name: str) -> Profiled:
    rows = rollouts()
    inputs = [
        row if row["_ng_task_index"] == 1 else {**row, "category": "é"} for row in inputs_of(rows)
    ]
    run = write_run(folder, map(noted, rows), inputs=map(noted, inputs), name=name)
    failed = [{**row, "_ng_failure_class": "délai"} for row in inputs_of(rows[:5])]
    write_lines(run.failures, map(noted, failed))
    return run


def spoil(path: Path, how: str) -> None:
    """Put into a file what DuckDB cannot read, in its first line or in its last."""
    content = path.read_bytes()
    if how == "byte_order_mark":
        path.write_bytes(b"\xef\xbb\xbf" + content)
    else:
        before, _, after = content.rpartition(PLAIN)
        path.write_bytes(before + UNREADABLE[how] + after)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A clean run, and its copies with one spoilt file each, in one warehouse."""
    folder = tmp_path_factory.mktemp("unreadable")
    clean = write_clean(folder, "clean")
    for case in CASES:
        file, _, how = case.partition("_with_")
        spoil(getattr(write_clean(folder, case), file), how)
    options = ("--slice-by", "category", "--slice-by", "level", "--pass-threshold", "0.5")
    result = run_profile(folder, *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    return clean


def rows_of(batch: Profiled, mart: str, case: str) -> list[tuple[object, ...]]:
    own = f"ends_with(run_id, '-{case}')"
    return batch.query(f"select * exclude (run_id) from {mart} where {own} order by all")


@pytest.mark.parametrize("mart", SAME)
@pytest.mark.parametrize("case", CASES)
def test_the_statistics_are_the_same(case: str, mart: str, batch: Profiled) -> None:
    expected = rows_of(batch, mart, "clean")
    assert expected
    assert rows_of(batch, mart, case) == expected


def test_the_clean_run_has_something_of_everything(batch: Profiled) -> None:
    slices = batch.query("select distinct slice_by, slice_value from agent_scores order by all")
    assert slices == [
        ("all", "all"),
        *(("category", value) for value in ("false", "é")),
        *(("level", value) for value in ("(none)", "100.0")),
    ]
    assert batch.query("select distinct failure_class from failure_classes") == [("délai",)]
    health = batch.table("from rollout_health where ends_with(run_id, '-clean')")
    for flag in (name for name in health[0] if name.startswith("is_") and name not in RARE):
        assert {row[flag] for row in health} == {True, False}, flag
    assert len({row["answer"] for row in health}) == 14


def test_rewards_far_below_rounding_lie_in_their_interval(tmp_path: Path) -> None:
    rewards = [4.05e-200, 1.24e-200, 6.86e-200]
    rows = [key(task, 0, reward=reward) for task, reward in enumerate(rewards)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    result = run_profile(run.rollouts, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert run.query("select count(*) from agent_scores where not value between low and high") == [
        (0,)
    ]
