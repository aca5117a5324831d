"""What went wrong in a run: missing and failed rollouts, and rollouts that look broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support import Profiled, Row, key, run_profile, write_lines, write_run

FLAGS = (
    "is_output_empty",
    "is_truncated",
    "is_usage_missing",
    "is_response_repeated",
    "is_verdict_inconsistent",
    "is_ground_truth_suspect",
)


def profiled(run: Profiled, *options: str) -> Profiled:
    result = run_profile(run.rollouts, *options, cwd=run.rollouts.parent)
    assert result.returncode == 0, result.stderr
    return run


def table(run: Profiled, sql: str) -> list[Row]:
    with duckdb.connect(str(run.warehouse), read_only=True) as connection:
        result = connection.execute(sql)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


# --- missing and failed rollouts


def of(agent: str | None, task: int, rollout: int, **fields: Any) -> Row:
    named = {"agent_ref": {"name": agent}} if agent else {}
    return {**named, **fields, "_ng_task_index": task, "_ng_rollout_index": rollout}


def failure(task: int, rollout: int, kind: str | None, *, is_terminal: bool = False) -> Row:
    named = {"_ng_failure_class": kind} if kind else {}
    fields = {"_ng_failure_terminal": is_terminal, "_ng_attempt_index": 1, **named}
    return of("agent_a", task, rollout, **fields)


@pytest.fixture(scope="module")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """Agent a: 6 expected, 4 completed. Agent b: named by a rollout only. One task of nobody."""
    inputs = [of("agent_a", task, index) for task in (0, 1) for index in range(3)]
    inputs += [of(None, 2, index) for index in range(2)]
    inputs += [of(None, 3, 0)]
    inputs += [of("agent_c", 4, 0)]
    rollouts = [
        of("agent_a", 0, 0, reward=1.0),
        of("agent_a", 0, 1, reward=3.0),
        of("agent_a", 0, 2, reward=None),
        of("agent_a", 1, 0, reward=-2.0),
        of("agent_b", 2, 0, reward=0.5),
    ]
    failures = [
        failure(0, 1, "timeout"),
        failure(0, 1, "timeout"),
        failure(0, 1, "http_5xx"),
        failure(0, 2, None),
        failure(1, 1, "timeout"),
        failure(1, 1, "http_4xx", is_terminal=True),
    ]
    run = write_run(tmp_path_factory.mktemp("partial"), rollouts, inputs=inputs)
    write_lines(run.failures, failures)
    return profiled(run, "--allow-partial")


RELIABILITY: dict[str, Row] = {
    "agent_a": {
        "expected_rollout_count": 6,
        "completed_rollout_count": 4,
        "missing_rollout_count": 2,
        "unscored_rollout_count": 1,
        "failed_attempt_count": 6,
        "attempt_count": 10,
        "clean_rollout_count": 2,
        "clean_ratio": 2 / 6,
        "recovered_rollout_count": 2,
        "lost_rollout_count": 1,
        "unattempted_rollout_count": 1,
        "reward_mean": 2 / 3,
        "reward_mean_failures_as_zero": 2 / 6,
        "assumed_reward_min": -2.0,
        "assumed_reward_max": 3.0,
        "reward_mean_lowest": (2 - 3 * 2) / 6,
        "reward_mean_highest": (2 + 3 * 3) / 6,
    },
    "agent_b": {
        "expected_rollout_count": 2,
        "completed_rollout_count": 1,
        "missing_rollout_count": 1,
        "unscored_rollout_count": 0,
        "failed_attempt_count": 0,
        "attempt_count": 1,
        "clean_rollout_count": 1,
        "clean_ratio": 0.5,
        "recovered_rollout_count": 0,
        "lost_rollout_count": 0,
        "unattempted_rollout_count": 1,
        "reward_mean": 0.5,
        "reward_mean_failures_as_zero": 0.25,
        "assumed_reward_min": 0.0,
        "assumed_reward_max": 1.0,
        "reward_mean_lowest": 0.25,
        "reward_mean_highest": 0.75,
    },
    "agent_c": {
        "expected_rollout_count": 1,
        "completed_rollout_count": 0,
        "missing_rollout_count": 1,
        "attempt_count": 0,
        "clean_ratio": 0.0,
        "unattempted_rollout_count": 1,
        "reward_mean": None,
        "reward_mean_failures_as_zero": 0.0,
        "reward_mean_lowest": 0.0,
        "reward_mean_highest": 1.0,
    },
    "(unknown)": {
        "expected_rollout_count": 1,
        "completed_rollout_count": 0,
        "missing_rollout_count": 1,
        "reward_mean": None,
    },
}
FAILURES: dict[str, Row] = {
    "timeout": {
        "attempt_count": 3,
        "terminal_attempt_count": 0,
        "rollout_count": 2,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 1,
    },
    "http_5xx": {
        "attempt_count": 1,
        "terminal_attempt_count": 0,
        "rollout_count": 1,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 0,
    },
    "http_4xx": {
        "attempt_count": 1,
        "terminal_attempt_count": 1,
        "rollout_count": 1,
        "recovered_rollout_count": 0,
        "lost_rollout_count": 1,
    },
    "(unknown)": {
        "attempt_count": 1,
        "terminal_attempt_count": 0,
        "rollout_count": 1,
        "recovered_rollout_count": 1,
        "lost_rollout_count": 0,
    },
}


@pytest.mark.parametrize("agent", RELIABILITY)
def test_every_expected_rollout_is_accounted_for(agent: str, partial: Profiled) -> None:
    (row,) = table(partial, f"from agent_reliability where agent_name = '{agent}'")
    found = {name: row[name] for name in RELIABILITY[agent]}
    assert found == pytest.approx(RELIABILITY[agent])


def test_nobody_else_is_accounted_for(partial: Profiled) -> None:
    assert {name for (name,) in partial.query("select agent_name from agent_reliability")} == set(
        RELIABILITY
    )


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_are_counted_by_class(kind: str, partial: Profiled) -> None:
    (row,) = table(partial, f"from failures where failure_class = '{kind}'")
    assert row["agent_name"] == "agent_a"
    assert {name: row[name] for name in FAILURES[kind]} == FAILURES[kind]


def test_failed_attempts_add_up(partial: Profiled) -> None:
    assert partial.query("select agent_name, sum(attempt_count) from failures group by all") == [
        ("agent_a", 6)
    ]
    totals = partial.query(
        """select sum(expected_rollout_count), sum(completed_rollout_count),
            sum(missing_rollout_count), sum(failed_attempt_count) from agent_reliability"""
    )
    assert totals == partial.query(
        """select expected_rollout_count, completed_rollout_count, missing_rollout_count,
            failed_attempt_count from runs"""
    )
    assert (
        partial.query(
            """select agent_name from agent_reliability where not (
            clean_rollout_count + recovered_rollout_count = completed_rollout_count
            and lost_rollout_count + unattempted_rollout_count = missing_rollout_count
            and completed_rollout_count + missing_rollout_count = expected_rollout_count)"""
        )
        == []
    )


def test_a_run_without_failures_has_no_row_of_failures(tmp_path: Path) -> None:
    rows = [key(0, 0, reward=1), key(0, 1, reward=0)]
    run = profiled(write_run(tmp_path, rows, inputs=[key(0, 0), key(0, 1)]))
    assert run.query("select count(*) from failures") == [(0,)]
    (row,) = table(run, "from agent_reliability")
    assert (row["clean_ratio"], row["attempt_count"]) == (1.0, 2)
    assert row["reward_mean"] == row["reward_mean_lowest"] == row["reward_mean_highest"] == 0.5


# --- broken rollouts


USAGE = {"output_tokens": 5}


def says(text: str, **fields: Any) -> Row:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **fields}


def logged(text: str, logprob: float) -> Row:
    part = {"type": "output_text", "text": text, "logprobs": [{"token": text, "logprob": logprob}]}
    return {"type": "message", "role": "assistant", "content": [part]}


def calls(arguments: str, name: str = "add", **fields: Any) -> Row:
    return {"type": "function_call", "name": name, "arguments": arguments, **fields}


def thinks(text: str) -> Row:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def gives(text: str) -> Row:
    return {"type": "function_call_output", "call_id": "c", "output": text}


def response(*output: Row, **fields: Any) -> Row:
    return {"response": {"output": list(output), "usage": USAGE, **fields}}


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
    "zero_tokens": ([response(says("a"), usage={"output_tokens": 0})], [False]),
    "other_number": ([response(says("a"), usage={"seconds": 1.5})], [False]),
    "empty": ([response(says("a"), usage={})], [True]),
    "null": ([response(says("a"), usage=None)], [True]),
    "absent": ([{"response": {"output": [says("a")]}}], [True]),
    "text": ([response(says("a"), usage={"output_tokens": "5"})], [True]),
    "null_tokens": ([response(says("a"), usage={"output_tokens": None})], [True]),
}
REPEATED: dict[str, Case] = {
    "same_text": (
        [response(says("a")), response(says("b")), response(says("a"))],
        [True, False, True],
    ),
    "other_ids": (
        [
            response(says("a", id="1"), calls("{}", id="2", call_id="3"), id="4"),
            response(says("a", id="5"), calls("{}", id="6", call_id="7"), id="8"),
        ],
        [True, True],
    ),
    "other_usage": (
        [response(says("a")), response(says("a"), usage={"output_tokens": 9})],
        [True, True],
    ),
    "other_reasoning": (
        [response(thinks("x"), says("a")), response(thinks("y"), says("a"))],
        [True, True],
    ),
    "other_arguments": (
        [response(says("a"), calls('{"x":1}')), response(says("a"), calls('{"x":2}'))],
        [False, False],
    ),
    "other_tool": (
        [response(calls("{}", name="add")), response(calls("{}", name="subtract"))],
        [False, False],
    ),
    "one_call_more": (
        [response(calls("{}")), response(calls("{}"), calls("{}"))],
        [False, False],
    ),
    "other_order": (
        [response(says("a"), says("b")), response(says("b"), says("a"))],
        [False, False],
    ),
    "texts_cut_elsewhere": (
        [response(says("ab"), says("c")), response(says("a"), says("bc"))],
        [False, False],
    ),
    "text_that_looks_like_a_call": (
        [response(says('{"x":1}')), response(calls('{"x":1}'))],
        [False, False],
    ),
    "other_logprobs": (
        [response(logged("a", logprob=-0.1)), response(logged("a", logprob=-0.2))],
        [True, True],
    ),
    "upper_case": ([response(says("a")), response(says("A"))], [False, False]),
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
CASES = {
    f"{flag}/{name}": (flag, *case)
    for flag, cases in zip(
        FLAGS, (EMPTY, TRUNCATED, USAGES, REPEATED, VERDICTS, SUSPECT), strict=True
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
    inputs = [key(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rollouts]
    return profiled(write_run(tmp_path_factory.mktemp("health"), rollouts, inputs=inputs))


@pytest.mark.parametrize("name", CASES)
def test_a_flag_marks_what_it_says_and_no_near_miss(name: str, health: Profiled) -> None:
    flag, _, expected = CASES[name]
    task = list(CASES).index(name)
    found = health.query(
        f"select {flag} from rollout_health where task_index = {task} order by rollout_index"
    )
    assert found == [(has_flag,) for has_flag in expected]


def test_findings_are_the_number_of_flags(health: Profiled) -> None:
    flags = " + ".join(f"{flag}::int" for flag in FLAGS)
    assert (
        health.query(
            f"select task_index from rollout_health where (finding_count = {flags}) is not true"
        )
        == []
    )
    assert health.query("select max(finding_count) >= 2 from rollout_health") == [(True,)]


def test_one_row_per_completed_rollout(health: Profiled, partial: Profiled) -> None:
    for run in (health, partial):
        names = "task_index, rollout_index"
        assert run.query(f"select {names} from rollout_health order by all") == run.query(
            f"select {names} from rollout_infos order by all"
        )


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
    run = write_run(tmp_path, rows, inputs=[key(0, 0), key(0, 1)])
    query = "select bool_and(is_ground_truth_suspect) from rollout_health"
    assert profiled(run).query(query) == [(True,)]
    assert profiled(run, "--pass-threshold", "0.5").query(query) == [(False,)]
    assert profiled(run, "--answer-field", "mine").query(query) == [(False,)]


def test_agents_on_the_same_task_do_not_repeat_each_other(tmp_path: Path) -> None:
    rows = [
        of(agent, 0, index, **answered("7", index), **response(says("a")))
        for index, agent in enumerate(("agent_a", "agent_b"))
    ]
    inputs = [of(agent, 0, index) for index, agent in enumerate(("agent_a", "agent_b"))]
    run = profiled(write_run(tmp_path, rows, inputs=inputs))
    assert run.query(
        "select distinct is_response_repeated, is_verdict_inconsistent from rollout_health"
    ) == [(False, False)]
