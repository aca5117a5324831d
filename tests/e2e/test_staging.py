"""What staging reads from the lines of the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import Row, inputs_of, key, profiled, write_run

AGENT = {"name": "a"}


def profile(
    folder: Path, rollouts: list[Row | bytes], inputs: list[Row | bytes], query: str
) -> Any:
    """Profile a run and return the rows of a query."""
    run = profiled(write_run(folder, rollouts, inputs=inputs))
    return run.query(query)


def rollout(task: int, index: int, **fields: Any) -> Row:
    return key(task, index, agent_ref=AGENT, **{"reward": 1, **fields})


def raw(row: Row, response: str) -> bytes:
    """The line of a rollout with a response that is written as given."""
    return json.dumps(row)[:-1].encode() + b', "response": ' + response.encode() + b"}"


PROMPTS = {
    "a text": ('{"input":"a \\"b\\"\\n\\u00e9"}', 'a "b"\né'),
    "two messages": (
        '{"input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}',
        "a\n\nb",
    ),
    "instructions of others": (
        '{"input":[{"role":"system","content":"s"},{"role":"developer","content":"d"},'
        '{"role":"user","content":"a"}]}',
        "a",
    ),
    "parts": (
        '{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},'
        '{"type":"input_image","image_url":"i"},{"text":"b"}]}]}',
        "a\nb",
    ),
    "items that are not messages": (
        '{"input":[{"type":"message","content":"a"},{"type":"function_call","arguments":"f"},'
        '{"type":"reasoning","content":[{"text":"r"}]}]}',
        "a",
    ),
    "empty messages": (
        '{"input":[{"role":"user","content":""},{"role":"user","content":[]},'
        '{"role":"user","content":"a"}]}',
        "a",
    ),
    "odd items": (
        '{"input":[7,"a",null,["b"],{"content":{"text":"c"}},'
        '{"content":["d",{"text":1},{"text":{"e":"f"}}]},{"content":"g"}]}',
        "g",
    ),
    "only instructions": (
        '{"input":[{"role":"system","content":"s"},{"role":"developer","content":"d"}]}',
        None,
    ),
    "an empty text": ('{"input":""}', None),
    "an empty list": ('{"input":[]}', None),
    "an object": ('{"input":{"role":"user","content":"a"}}', None),
    "a number": ('{"input":7}', None),
    "null": ('{"input":null}', None),
    "no input": ('{"instructions":"a"}', None),
    "a list": ('["input"]', None),
    "no object": ("null", None),
}


def test_a_prompt_is_what_the_agent_is_asked(tmp_path: Path) -> None:
    rollouts: list[Row | bytes] = [rollout(task, 0) for task in range(len(PROMPTS))]
    inputs: list[Row | bytes] = [
        key(task, 0, agent_ref=AGENT, responses_create_params=json.loads(params))
        for task, (params, _) in enumerate(PROMPTS.values())
    ]
    rows = profile(
        tmp_path, rollouts, inputs, "select task_index, prompt from task_profiles order by 1"
    )
    names = list(PROMPTS)
    assert {names[task]: prompt for task, prompt in rows} == {
        name: prompt for name, (_, prompt) in PROMPTS.items()
    }


def test_the_sample_is_the_first_input_with_a_measured_result_of_its_agent(tmp_path: Path) -> None:
    agents = ["a", "a", "a", "a", "b"]
    inputs: list[Row | bytes] = [
        key(
            0, place, agent_ref={"name": agent}, _ng_source_task="sums/7",
            responses_create_params={"input": f"attempt {place}"},
        )
        for place, agent in enumerate(agents)
    ]  # fmt: skip
    rollouts: list[Row | bytes] = [
        key(0, place, agent_ref={"name": agents[place]}, reward=1, mask_sample=place in (1, 4))
        for place in (3, 2, 1, 4)
    ]
    run = write_run(tmp_path, rollouts, inputs=inputs)
    rows = profiled(run, "--allow-partial").query(
        "select agent_name, prompt, task_name, sample from task_profiles order by 1"
    )
    assert [row[:3] for row in rows] == [
        ("a", "attempt 2", "sums/7"),
        ("b", "attempt 4", "sums/7"),
    ]
    assert json.loads(rows[0][3])["responses_create_params"] == {"input": "attempt 2"}


MASKS = {
    "true": True,
    '"no"': True,
    "0.5": True,
    "[0]": True,
    "false": False,
    '""': False,
    "-0.0": False,
    "{}": False,
}


def test_what_python_takes_for_true_masks_a_rollout(tmp_path: Path) -> None:
    rollouts: list[Row | bytes] = [
        rollout(0, place, mask_sample=json.loads(mask)) for place, mask in enumerate(MASKS)
    ]
    inputs: list[Row | bytes] = [*inputs_of(row for row in rollouts if isinstance(row, dict))]
    rows = profile(
        tmp_path,
        rollouts,
        inputs,
        "select rollout_index, not is_measured, reward, info from rollout_infos order by 1",
    )
    masks = list(MASKS)
    assert {masks[place]: masked for place, masked, _, _ in rows} == MASKS
    assert all(reward == (None if masked else 1.0) for _, masked, reward, _ in rows)
    # the compact record keeps the reward as written
    assert {json.loads(info)["reward"] for *_, info in rows} == {1}


def test_the_compact_record_keeps_what_the_rollout_says(tmp_path: Path) -> None:
    row = key(3, 1, agent_ref=AGENT, _private=5, reward=True, tokens=9, steps=4)
    line = raw(row, '{"usage":{"tokens":5,"steps":"four","total_tokens":7,"_hidden":2}}')
    ((reward, total, info),) = profile(
        tmp_path,
        [line.replace(b'"steps": 4', b'"steps": 4, "bad": NaN')],
        [*inputs_of([row])],
        "select reward, total_tokens, info from rollout_infos",
    )
    assert (reward, total) == (1.0, 7.0)
    assert info == (
        '{"rollout_id":"3:1","_ng_task_index":3,"_ng_rollout_index":1,"reward":true,'
        '"tokens":9,"steps":4,"total_tokens":7,"_hidden":2}'
    )


USAGES = [
    ('{"output":[],"usage":{"total_tokens":1}}', 1.0),
    ('{"output":[],"usage":{"total_tokens":1},"user":null}', 1.0),
    ('{"usage":{"total_tokens":1}}', 1.0),
    ('{"usage":{"total_tokens":1},"output":[]}', 1.0),
    ('{"usage":{"total_tokens":1},"usage":{"total_tokens":2}}', 2.0),
    ('{"usage":{"total_tokens":1},"usage":{"total_tokens":2},"user":null}', 2.0),
    ('{"usage":{"total_tokens":1},"usage":{"total_tokens":2},"output":[]}', 2.0),
    (
        '{"usage":{"total_tokens":1},"usage":{"total_tokens":2},"usage":{"total_tokens":1}}',
        1.0,
    ),
    (
        '{"usage":{"total_tokens":1},"usage":{"total_tokens":2},"a,\\"usage":{"total_tokens":1}}',
        2.0,
    ),
    ('{"usage":{"total_tokens":2},"a":{"b":0,"usage":{"total_tokens":1}}}', 2.0),
    ('{"usage":{"total_tokens":1},"usage":null}', None),
    ('{"usage":null,"usage":{"total_tokens":1}}', 1.0),
]


def test_a_repeated_usage_counts_as_python_reads_it(tmp_path: Path) -> None:
    rows = [rollout(0, place) for place in range(len(USAGES))]
    lines: list[Row | bytes] = [
        raw(row, response) for row, (response, _) in zip(rows, USAGES, strict=True)
    ]
    found = profile(
        tmp_path,
        lines,
        [*inputs_of(rows)],
        "select total_tokens from rollout_infos order by rollout_index",
    )
    assert [total for (total,) in found] == [total for _, total in USAGES]


CALLS = ["reasoning", *["function_call"] * 2, *["function_call_output"] * 2, "message"]
EFFORTS: list[tuple[Row, tuple[float | None, ...]]] = [
    (
        {
            "ng_perf": {
                "num_turns": 7,
                "num_tool_calls": 5,
                "total_latency_ms": 12.5,
                "cached_prompt_tokens": 3,
                "reasoning_tokens": 2,
            },
            "_spotter_latency_ms": 20.5,
            "response": {"output": []},
        },
        (7.0, 5.0, 12.5, 3.0, 2.0),
    ),
    (
        {
            "_spotter_latency_ms": 20.5,
            "response": {"output": [{"type": kind} for kind in CALLS]},
        },
        (2.0, 2.0, 20.5, None, None),
    ),
    (
        {
            "_spotter_latency_ms": "soon",
            "response": {
                "output": [{"type": "message"}],
                "usage": {
                    "input_tokens_details": {"cached_tokens": 8},
                    "output_tokens_details": {"reasoning_tokens": 6},
                },
            },
        },
        (1.0, 0.0, None, 8.0, 6.0),
    ),
    ({"ng_perf": {"num_turns": "many"}}, (None, None, None, None, None)),
]


@pytest.mark.parametrize(("fields", "efforts"), EFFORTS, ids=["told", "counted", "usage", "none"])
def test_turns_and_tool_calls_are_told_or_counted(
    tmp_path: Path, fields: Row, efforts: tuple[float | None, ...]
) -> None:
    row = rollout(0, 0, **fields)
    (found,) = profile(
        tmp_path,
        [row],
        [*inputs_of([row])],
        "select turn_count, tool_call_count, latency_ms, cached_tokens, reasoning_tokens"
        " from rollout_infos",
    )
    assert found == efforts
