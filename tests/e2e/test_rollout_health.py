"""Rollouts that look broken: what each flag marks, and what it does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.responses import USAGE, calls, gives, logged, response, says, thinks
from tests.support import Profiled, Row, inputs_of, key, profiled, write_run

FLAGS = (
    "is_output_empty",
    "is_truncated",
    "is_usage_missing",
    "is_response_repeated",
    "is_verdict_inconsistent",
    "is_ground_truth_suspect",
    "is_reward_contradicted",
    "is_tool_call_open",
    "is_final_answer_empty",
    "is_failure_reported",
)


def answered(answer: Any, reward: Any) -> Row:
    return {"extracted_answer": answer, "reward": reward}


# for each flag: rollouts of one task, and which of them have the flag
Case = tuple[Sequence[Row], Sequence[bool]]
EMPTY: dict[str, Case] = {
    "text": ([response(says("hello"))], [False]),
    "no_output": ([response()], [True]),
    "no_response": ([{}], [True]),
    "null_response": ([{"response": None}], [True]),
    "null_output": ([{"response": {"output": None, "usage": USAGE}}], [True]),
    "reasoning_only": ([response(thinks("hm"))], [True]),
    "reasoning_and_text": ([response(thinks("hm"), says("hello"))], [False]),
    "tool_call_only": ([response(calls("{}"))], [False]),
    "tool_output_only": ([response(gives("42"))], [True]),
    "empty_text": ([response(says(""))], [True]),
    "blank_text": ([response(says(" \n\t"))], [True]),
    "message_without_content": ([response({"type": "message", "content": []})], [True]),
    "content_is_a_string": ([response({"type": "message", "content": "hello"})], [False]),
    "items_that_are_no_objects": ([{"response": {"output": [1, None, "x"]}}], [True]),
    "refusal": (
        [response({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]})],
        [False],
    ),
    "text_after_an_empty_one": ([response(says(""), says("hello"))], [False]),
}
TRUNCATED: dict[str, Case] = {
    "completed": ([response(says("a"), status="completed", incomplete_details=None)], [False]),
    "incomplete": (
        [response(says("a"), status="incomplete", incomplete_details={"reason": "length"})],
        [True],
    ),
    "incomplete_without_details": ([response(says("a"), status="incomplete")], [True]),
    "last_item": ([response(says("a"), calls("{}", status="incomplete"))], [True]),
    "details_without_a_status": (
        [response(says("a"), incomplete_details={"reason": "max_output_tokens"})],
        [True],
    ),
    "earlier_item": ([response(says("a", status="incomplete"), says("b"))], [False]),
    "only_the_text_says_so": ([response(says("incomplete"), status="completed")], [False]),
    "only_the_metadata_says_so": (
        [response(says("a"), metadata={"status": "incomplete"})],
        [False],
    ),
}
USAGES: dict[str, Case] = {
    "tokens": ([response(says("a"))], [False]),
    "zero_tokens": ([response(says("a"), usage={"output_tokens": 0})], [True]),
    "other_number": ([response(says("a"), usage={"seconds": 1.5})], [False]),
    "empty": ([response(says("a"), usage={})], [True]),
    "null": ([response(says("a"), usage=None)], [True]),
    "absent": ([{"response": {"output": [says("a")]}}], [True]),
    "text": ([response(says("a"), usage={"output_tokens": "5"})], [True]),
    "null_tokens": ([response(says("a"), usage={"output_tokens": None})], [True]),
}
SAME_OUTPUT = {
    "other_ids": (
        response(says("a", id="1"), calls("{}", id="2", call_id="3"), id="4"),
        response(says("a", id="5"), calls("{}", id="6", call_id="7"), id="8"),
    ),
    "other_usage": (response(says("a")), response(says("a"), usage={"output_tokens": 9})),
}
OTHER_OUTPUT = {
    "other_reasoning": (response(thinks("x"), says("a")), response(thinks("y"), says("a"))),
    "unknown_items": (
        response({"type": "patch_call", "operation": "x"}),
        response({"type": "patch_call", "operation": "y"}),
    ),
    "other_code": (
        response({"type": "code_interpreter_call", "code": "1"}),
        response({"type": "code_interpreter_call", "code": "2"}),
    ),
    "other_arguments": (
        response(says("a"), calls('{"x":1}')),
        response(says("a"), calls('{"x":2}')),
    ),
    "other_tool": (response(calls("{}", name="add")), response(calls("{}", name="subtract"))),
    "one_call_more": (response(calls("{}")), response(calls("{}"), calls("{}"))),
    "other_order": (response(says("a"), says("b")), response(says("b"), says("a"))),
    "texts_cut_elsewhere": (response(says("ab"), says("c")), response(says("a"), says("bc"))),
    "text_that_looks_like_a_call": (response(says('{"x":1}')), response(calls('{"x":1}'))),
    "other_logprobs": (response(logged("a", logprob=-0.1)), response(logged("a", logprob=-0.2))),
    "upper_case": (response(says("a")), response(says("A"))),
}
REPEATED: dict[str, Case] = {
    "same_text": (
        [response(says("a")), response(says("b")), response(says("a"))],
        [True, False, True],
    ),
    **{name: (pair, [True, True]) for name, pair in SAME_OUTPUT.items()},
    **{name: (pair, [False, False]) for name, pair in OTHER_OUTPUT.items()},
}
VERDICTS: dict[str, Case] = {
    "judged_twice": (
        [answered("7", 1), answered("7", 0), answered("8", 0)],
        [True, True, False],
    ),
    "judged_alike": ([answered("7", 1), answered("7", 1.0)], [False, False]),
    "other_answers": ([answered("7", 1), answered("8", 0)], [False, False]),
    "number_and_text": ([answered(7, 1), answered("7", 0)], [False, False]),
    "null_answers": ([answered(None, 1), answered(None, 0)], [False, False]),
    "no_answers": ([{"reward": 1}, {"reward": 0}], [False, False]),
    "long_answers_that_differ_at_the_end": (
        [answered("x" * 300 + "1", 1), answered("x" * 300 + "2", 0)],
        [False, False],
    ),
    "objects": ([answered({"a": [1, 2]}, 1), answered({"a": [1, 2]}, 0)], [True, True]),
}
SUSPECT: dict[str, Case] = {
    "twelve_of_fifteen": ([answered("7", 0)] * 12 + [answered("8", 0)] * 3, [True] * 15),
    "four_of_five": ([answered("7", 0)] * 4 + [answered("8", 0)], [True] * 5),
    "three_of_four": ([answered("7", 0)] * 3 + [answered("8", 0)], [False] * 4),
    "one_passes": ([answered("7", 0)] * 4 + [answered("8", 1)], [False] * 5),
    "single_answer": ([answered("7", 0), answered(None, 0)], [False] * 2),
    "silence_does_not_count": (
        [answered("7", 0), answered(None, 0), answered("7", 0), {"reward": 0}],
        [True] * 4,
    ),
    "no_answer": ([answered(None, 0)] * 3, [False] * 3),
    "graded_failures": ([answered("7", 0.9), answered("7", 0.5)], [True] * 2),
}
CONTRADICTED: dict[str, Case] = {
    "agrees": ([{"reward": 1, "is_correct": True}], [False]),
    "denied_pass": ([{"reward": 1, "is_correct": False}], [True]),
    "confirmed_fail": ([{"reward": 0, "passed": True}], [True]),
    "partly": ([{"reward": 0.5, "passed": False}], [False]),
    "partly_confirmed": ([{"reward": 0.5, "passed": True}], [False]),
    "negative": ([{"reward": -1, "solved": True}], [True]),
    "one_of_two": ([{"reward": 1, "success": True, "resolved": False}], [True]),
    "a_count": ([{"reward": 0, "correct": 3}], [False]),
    "other_fields": ([{"reward": 1, "is_cheap": False}], [False]),
    "a_text": ([{"reward": 1, "passed": "no"}], [False]),
}
OPEN: dict[str, Case] = {
    "answered": ([response(calls("{}"), gives("1"), says("a"))], [False]),
    "open": ([response(calls("{}"), says("a"))], [True]),
    "one_of_two": ([response(calls("{}"), calls("{}"), gives("1"))], [True]),
    "part_of_the_call": ([response({"type": "web_search_call", "action": "x"})], [False]),
    "no_calls": ([response(says("a"))], [False]),
}
FINAL: dict[str, Case] = {
    "answer": ([response(calls("{}"), gives("1"), says("a"))], [False]),
    "empty": ([response(calls("{}"), gives("1"), says(""))], [True]),
    "blank": ([response(calls("{}"), gives("1"), says(" \n"))], [True]),
    "without_calls": ([response(says(""))], [False]),
    "ends_with_a_result": ([response(calls("{}"), gives("1"))], [False]),
    "no_output": ([response()], [False]),
}
REPORTED: dict[str, Case] = {
    "refusal": ([{"failure_kind": "inspect:refusal", "mask_sample": False}], [True]),
    "nothing": (
        [{"failure_kind": None}, {"failure_kind": ""}, {"failure_reason": "x"}],
        [False] * 3,
    ),
}
CASES = {
    f"{flag}/{name}": (flag, *case)
    for flag, cases in zip(
        FLAGS,
        (
            EMPTY,
            TRUNCATED,
            USAGES,
            REPEATED,
            VERDICTS,
            SUSPECT,
            CONTRADICTED,
            OPEN,
            FINAL,
            REPORTED,
        ),
        strict=True,
    )
    for name, case in cases.items()
}


@pytest.fixture(scope="module")
def health(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """Every case as a task of one run; what a case leaves out is as it should be."""
    rollouts = []
    for task, (_, rows, _) in enumerate(CASES.values()):
        for index, row in enumerate(rows):
            own = {} if "response" in row or not row else response(says(f"{task} {index}"))
            rollouts.append(key(task, index, **({"reward": 1} | own | row)))
    folder = tmp_path_factory.mktemp("health")
    return profiled(write_run(folder, rollouts, inputs=inputs_of(rollouts)))


@pytest.mark.parametrize("name", CASES)
def test_a_flag_marks_what_it_says_and_no_near_miss(name: str, health: Profiled) -> None:
    flag, _, expected = CASES[name]
    task = list(CASES).index(name)
    found = health.query(
        f"select {flag} from rollout_health where task_index = {task} order by rollout_index"
    )
    assert found == [(has_flag,) for has_flag in expected]


def test_findings_are_the_number_of_flags(health: Profiled) -> None:
    flags = " + ".join(f"{flag}::int" for flag in (*FLAGS, "is_turn_limit_reached"))
    flags += " - (is_response_repeated and is_passing)::int"
    assert (
        health.query(
            f"select task_index from rollout_health where (finding_count = {flags}) is not true"
        )
        == []
    )
    assert health.query("select max(finding_count) >= 2 from rollout_health") == [(True,)]


def test_every_rollout_is_looked_at(health: Profiled) -> None:
    keys = "select task_index, rollout_index from {} order by all"
    found = health.query(keys.format("rollout_health"))
    assert found == health.query(keys.format("rollout_infos"))


def test_answers_are_json_of_at_most_200_characters(health: Profiled) -> None:
    def answers(name: str) -> list[str]:
        task = list(CASES).index(f"is_verdict_inconsistent/{name}")
        query = f"select answer from rollout_health where task_index = {task}"
        return [answer for (answer,) in health.query(f"{query} order by rollout_index")]

    assert answers("number_and_text") == ["7", '"7"']
    assert answers("null_answers") == [None, None]
    one, other = answers("long_answers_that_differ_at_the_end")
    assert one != other
    assert len(one) == len(other) == 200
    assert one.startswith('"' + "x" * 150)


def test_threshold_and_answer_field_decide_what_is_suspect(tmp_path: Path) -> None:
    rows = [key(0, index, mine=f"answer {index}", **answered("7", 0.5)) for index in range(2)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    query = "select bool_and(is_ground_truth_suspect) from rollout_health"
    assert profiled(run).query(query) == [(True,)]
    assert profiled(run, "--pass-threshold", "0.5").query(query) == [(False,)]
    assert profiled(run, "--answer-field", "mine").query(query) == [(False,)]


def test_agents_on_the_same_task_do_not_repeat_each_other(tmp_path: Path) -> None:
    rows = [
        key(0, index, agent_ref={"name": agent}, **answered("7", index), **response(says("a")))
        for index, agent in enumerate(("agent_a", "agent_b"))
    ]
    run = profiled(write_run(tmp_path, rows, inputs=inputs_of(rows)))
    assert run.query(
        "select distinct is_response_repeated, is_verdict_inconsistent from rollout_health"
    ) == [(False, False)]


def turns(count: int, *end: Row) -> Row:
    """A response of some turns, each with a call and its result, and an end."""
    steps = [item for _ in range(count) for item in (calls("{}"), gives("1"))]
    return response(*steps, *end)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # the longest stop in the middle, the others answer
        ([turns(5), turns(5), turns(2, says("a"))], [True, True, False]),
        # an environment that ends rollouts with a tool does so at any length
        ([turns(5), turns(2), turns(3)], [False, False, False]),
        ([turns(5, says("a")), turns(5, says("b"))], [False, False]),
        ([turns(1), turns(1)], [False, False]),
    ],
)
def test_stopping_at_the_most_turns_only_is_a_limit(
    rows: list[Row], expected: list[bool], tmp_path: Path
) -> None:
    rollouts = [key(0, index, reward=0, **row) for index, row in enumerate(rows)]
    run = profiled(write_run(tmp_path, rollouts, inputs=inputs_of(rollouts)))
    found = run.query("select is_turn_limit_reached from rollout_health order by rollout_index")
    assert found == [(flag,) for flag in expected]


def test_usage_of_zeros_is_no_usage(tmp_path: Path) -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    rollouts = [
        key(0, 0, reward=1, **response(says("a"), usage=zeros)),
        key(0, 1, reward=1, **response(says("b"), usage={**zeros, "output_tokens": 4})),
    ]
    run = profiled(write_run(tmp_path, rollouts, inputs=inputs_of(rollouts)))
    assert run.query("select output_tokens, input_tokens from rollout_infos order by all") == [
        (4.0, 0.0),
        (None, None),
    ]
    assert run.query("select output_tokens_mean from task_profiles") == [(4.0,)]
    (task,) = run.profiles()
    assert task["mean/output_tokens"] == 2.0, "NeMo Gym's files count the zeros"
