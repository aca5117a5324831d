"""`spotter export --format atif`: trajectories that Spotter and others read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.exports import Exports, export
from tests.imports import read_rows
from tests.programs import run_command
from tests.support import Profiled, Row, key, profiled, write_run

TOOL = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
PIXEL = "data:image/gif;base64,R0lGOD"
PROMPT: list[Row] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "1 + 1?"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": [{"type": "input_image", "image_url": PIXEL}]},
]


def call(call_id: str, arguments: str = "{}") -> Row:
    return {"type": "function_call", "call_id": call_id, "name": "look_up", "arguments": arguments}


def result(call_id: str, text: str) -> Row:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def said(text: str) -> Row:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def thought(text: str) -> Row:
    content = [{"type": "reasoning_text", "text": text}]
    return {"type": "reasoning", "summary": [], "content": content}


OUTPUT: list[Row] = [
    thought("Hm."),
    said("I look."),
    call("c1", '{"q":1}'),
    call("c2", '{"q":'),
    result("c2", "second"),
    result("c1", "first"),
    call("c3"),
    result("c3", "third"),
    said("It is red."),
    {"type": "message", "role": "user", "content": "Sure?"},
    said("Yes."),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("atif")
    params = {"input": PROMPT, "tools": [TOOL], "temperature": 0.5}
    asked = {"responses_create_params": params, "expected_answer": "red"}
    inputs = [
        key(task, rollout, agent_ref={"name": "solver"}, **asked)
        for task in range(2)
        for rollout in range(2)
    ]
    usage = {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}
    response = {"model": "maker/model", "output": OUTPUT, "usage": usage}
    rollouts = [
        {**row, "response": response, "reward": number / 4, "style": 0.5, "verdict": "fine"}
        for number, row in enumerate(inputs)
    ]
    return profiled(write_run(folder, rollouts, inputs=inputs))


@pytest.fixture(scope="module")
def exports(run: Profiled) -> Exports:
    return export(run, "-f", "atif")


def trajectories(exports: Exports) -> list[Any]:
    paths = sorted((exports.folder / "atif").glob("run_id=*/*.json"))
    return [json.loads(path.read_bytes()) for path in paths]


def test_a_rollout_is_a_trajectory_with_its_steps_in_order(exports: Exports) -> None:
    found = trajectories(exports)
    assert len(found) == 4
    one = found[0]
    assert one["schema_version"] == "ATIF-v1.7"
    assert one["agent"] == {
        "name": "solver",
        "version": "unknown",
        "model_name": "maker/model",
        "tool_definitions": [
            {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
        ],
    }
    steps = one["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, 10))
    sources = ["system", "user", "agent", "user", "agent", "agent", "agent", "user", "agent"]
    assert [step["source"] for step in steps] == sources
    image = {"type": "image", "source": {"media_type": "image/gif", "path": PIXEL}}
    assert steps[3]["message"] == [image]
    looking = steps[4]
    assert (looking["reasoning_content"], looking["message"]) == ("Hm.", "I look.")
    assert [one["arguments"] for one in looking["tool_calls"]] == [{"q": 1}, {}]
    assert looking["observation"]["results"] == [
        {"content": "second", "source_call_id": "c2"},
        {"content": "first", "source_call_id": "c1"},
    ]
    assert one["final_metrics"] == {
        "total_prompt_tokens": 30,
        "total_completion_tokens": 4,
        "total_steps": 9,
    }


def test_every_field_is_one_that_the_schema_knows(exports: Exports) -> None:
    known = {
        "root": {"schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics",
                 "extra"},
        "step": {"step_id", "source", "message", "model_name", "reasoning_content", "tool_calls",
                 "observation", "extra"},
    }  # fmt: skip
    of_agent = {"model_name", "reasoning_content", "tool_calls"}
    for one in trajectories(exports):
        assert set(one) <= known["root"]
        for step in one["steps"]:
            assert set(step) <= known["step"]
            assert step["source"] == "agent" or not of_agent & set(step)
            calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
            results = step.get("observation", {}).get("results", [])
            assert {one["source_call_id"] for one in results if "source_call_id" in one} <= calls


def test_an_export_is_imported_as_the_same_attempts(
    run: Profiled, exports: Exports, tmp_path: Path
) -> None:
    folder = exports.folder / "atif"
    done = run_command("spotter", "import", folder, "-o", "back.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    before = {_key(row): row for row in read_rows(run.rollouts)}
    after = {_key(row): row for row in read_rows(tmp_path / "back.jsonl")}
    assert before.keys() == after.keys()
    for rollout, old in before.items():
        new = after[rollout]
        for name in ("reward", "style", "verdict", "expected_answer", "responses_create_params"):
            assert new[name] == old[name], name
        assert new["agent_ref"]["name"] == "solver"
        assert new["response"]["model"] == "maker/model"
        assert new["response"]["usage"] == old["response"]["usage"]
        assert new["response"]["output"] == old["response"]["output"]
    done = run_command("spotter", "profile", "back.jsonl", "-w", "w.duckdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    query = "select task_id, reward_mean from task_profiles order by all"
    assert _query(tmp_path / "w.duckdb", query, tmp_path) == _query(run.warehouse, query, tmp_path)


def test_a_selection_without_the_rollouts_is_refused(run: Profiled, tmp_path: Path) -> None:
    options = ("-o", "out", "-f", "atif", "-s", "runs")
    done = run_command("spotter", "export", "-w", run.warehouse, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "--format atif needs the marts" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_whose_files_are_gone_leaves_the_previous_export(
    run: Profiled, exports: Exports
) -> None:
    before = trajectories(exports)
    moved = run.rollouts.with_suffix(".moved")
    run.rollouts.rename(moved)
    try:
        options = ("-w", run.warehouse, "-o", exports.folder, "-f", "atif")
        done = run_command("spotter", "export", *options, cwd=run.rollouts.parent)
    finally:
        moved.rename(run.rollouts)
    assert done.returncode == 4
    assert run.rollouts.name in done.stderr
    assert trajectories(exports) == before


def _key(row: Row) -> tuple[int, int]:
    return row["_ng_task_index"], row["_ng_rollout_index"]


def _query(warehouse: Path, query: str, folder: Path) -> str:
    done = run_command("spotter", "sql", "-w", warehouse, query, "--csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
