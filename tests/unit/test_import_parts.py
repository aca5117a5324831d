"""The parts that the readers of logs share: paths, questions, messages, rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.atomic_files import Drafts
from collector.errors import InvariantError, UsageError
from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Mask
from collector.importing.formats.trace_messages import branches
from collector.importing.json_paths import parse_path
from collector.importing.json_values import count, usage
from collector.importing.messages import chat_items
from collector.importing.reading import RewardChoice
from collector.importing.writing import ImportFiles, RunWriter


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a", {"b": [1, {"c.d": 2}]}),
        ("$.a.b[0]", 1),
        ("a.b[-1]", {"c.d": 2}),
        ('a.b[1]["c.d"]', 2),
        ("a.b[7]", None),
        ("a.b.c", None),
        ("x.y", None),
    ],
)
def test_a_path_finds_a_value_or_nothing(path: str, found: Any) -> None:
    assert parse_path(path).find({"a": {"b": [1, {"c.d": 2}]}}) == found


@pytest.mark.parametrize("path", ["", "$", "a[", "a[x]", "[]"])
def test_what_is_not_a_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(path)


@pytest.mark.parametrize(
    "messages",
    [
        "2 + 2?",
        [{"role": "user", "content": "2 + 2?"}],
        [{"type": "message", "id": "m1", "role": "user", "content": "2 + 2?"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "2 + 2?"}]}],
    ],
    ids=["text", "chat", "item", "parts"],
)
@pytest.mark.parametrize("answer", [4, "4"])
def test_the_same_question_is_the_same_row_however_it_is_written(
    messages: Any, answer: Any
) -> None:
    assert asked_row(messages, answer=answer) == {
        "responses_create_params": {"input": [{"role": "user", "content": "2 + 2?"}]},
        "expected_answer": "4",
    }


def test_chat_messages_become_items() -> None:
    call = {"id": "c", "function": {"name": "add", "arguments": {"a": 1}}}
    items = chat_items(
        [
            {"role": "assistant", "content": "", "tool_calls": [call], "reasoning": "Hm."},
            {"role": "tool", "tool_call_id": "c", "content": {"sum": 1}},
            {"role": "assistant", "content": None},
            "loose text",
        ]
    )
    assert [item["type"] for item in items] == [
        *("reasoning", "function_call", "function_call_output", "message", "message"),
    ]
    assert items[1]["arguments"] == '{"a":1}'
    assert items[2]["output"] == '{"sum":1}'


def test_each_leaf_of_a_tree_is_a_branch() -> None:
    nodes = [
        {"message": {"content": "root"}},
        {"message": {"content": "left"}, "parent": 0},
        {"message": {"content": "right"}, "parent": 0},
        {"message": {"content": "alone"}},
    ]
    texts = [[message["content"] for message in branch] for branch in branches(nodes)]
    assert texts == [["root", "left"], ["root", "right"], ["alone"]]


def node(content: str, parent: int | None = None, **links: int) -> dict[str, Any]:
    """A reply in a tree, with what else led to it."""
    semantic = [{"type": kind, "node": index} for kind, index in links.items()]
    message = {"role": "assistant", "content": content}
    return {"message": message, "sampled": True, "parent": parent, "semantic_parents": semantic}


@pytest.mark.parametrize(
    ("nodes", "reply", "ends"),
    [
        ([node("x"), node("late", None, subagent_call=0)], "x ", ["late", "x"]),
        ([node("x"), node("x", None, subagent_call=0)], "x", ["x", "x"]),
        ([node("x"), node("late", None, subagent_call=0)], None, ["late", "x"]),
        ([node("x"), node("try", 0, compaction_attempt=0)], "x", ["try", "x"]),
        ([node("x"), node("y", 0), node("try", 0, compaction_attempt=0)], None, ["try", "y"]),
        ([node("x"), node("try", 0, compaction_attempt=0)], None, ["try", "x"]),
        (
            [
                *(node("x"), node("sum", 0, compaction_attempt=0)),
                *(node("y", None, compaction=1), node("try", 2, compaction_attempt=2)),
            ],
            None,
            ["sum", "try", "y"],
        ),
        ([node("x"), node("y")], "nowhere", ["x", "y"]),
    ],
    ids=["late", "echo", "called", "inner", "refused", "only", "accepted", "unknown"],
)
def test_the_branch_of_the_agent_itself_is_the_last(
    nodes: list[dict[str, Any]], reply: str | None, ends: list[str]
) -> None:
    assert [branch[-1]["content"] for branch in branches(nodes, reply)] == ends


def test_nodes_in_a_circle_end() -> None:
    circle = [{"message": {}, "parent": 1}, {"message": {}, "parent": 0}, {"parent": 1}]
    assert len(branches(circle)) == 1


def test_a_reward_that_only_some_attempts_have_is_none_for_the_others() -> None:
    rewards = RewardChoice("acc")
    assert rewards.choose({"acc": 1.0}, 0.5) == 1.0
    assert rewards.choose({"other": 1.0}, 0.5) is None
    rewards.check()


def test_a_reward_that_no_attempt_has_is_refused() -> None:
    rewards = RewardChoice("acc")
    rewards.choose({"accuracy": 1.0})
    with pytest.raises(UsageError, match="--reward acc: unknown"):
        rewards.check()


@pytest.mark.parametrize("value", [None, "3", -1, 10**30, float("nan")])
def test_what_is_not_a_count_counts_nothing(value: Any) -> None:
    assert count(value) == 0


def test_tokens_that_are_floats_become_integers() -> None:
    assert usage(3.0, 2.0) == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    assert usage(None, float("nan")) is None


def attempt(rollout: int, *, failure: Failure | None = None, mask: Mask | None = None) -> Attempt:
    return Attempt("t", rollout, asked_row("?"), reward=1.0, failure=failure, mask=mask)


def test_a_retry_that_succeeds_is_no_lost_rollout(tmp_path: Path) -> None:
    files = ImportFiles(tmp_path / "run.jsonl")
    lost, retried = Failure("Timeout", "slow"), Failure("Timeout", "slow", is_retried=True)
    with (
        Drafts() as drafts,
        RunWriter(files, Identity("test"), drafts, lambda _: False) as writer,
    ):
        for one in (attempt(0, failure=retried), attempt(0), attempt(1, failure=lost)):
            writer.add(one)
        writer.expect(Expected("t", 1))
        writer.expect(Expected("t", 2))
        with pytest.raises(InvariantError, match="rollout 0 of task t twice"):
            writer.add(attempt(0))
        counts = writer.finish()
    assert (counts.rollout_count, counts.failed_count, counts.missing_count) == (1, 1, 1)
    assert counts.failures == {"Timeout": 2}


def test_a_masked_reward_stands_beside_with_the_reason(tmp_path: Path) -> None:
    files = ImportFiles(tmp_path / "run.jsonl")
    mask = Mask("test:reward_invalid", "the verifier was disturbed")
    with Drafts() as drafts:
        with RunWriter(files, Identity("test"), drafts, lambda _: False) as writer:
            writer.add(attempt(0, mask=mask))
            writer.add(attempt(1))
            counts = writer.finish()
        drafts.publish()
    masked, plain = (orjson.loads(line) for line in files.rollouts.read_bytes().splitlines())
    assert (masked["reward"], masked["stored_reward"], masked["mask_sample"]) == (None, 1.0, True)
    assert (masked["failure_kind"], masked["failure_reason"]) == (mask.kind, mask.reason)
    assert plain["reward"] == 1.0
    assert "mask_sample" not in plain
    assert (counts.masked, counts.unscored_count) == ({mask.kind: 1}, 0)


def test_an_expected_attempt_of_an_unknown_question_is_a_task_of_its_own(tmp_path: Path) -> None:
    files = ImportFiles(tmp_path / "run.jsonl")
    with Drafts() as drafts:
        with RunWriter(files, Identity("test"), drafts, lambda _: False) as writer:
            writer.add(attempt(0))
            for name in ("t", "u", "v"):
                writer.expect(Expected(name, 1))
        drafts.publish()
    rows = [orjson.loads(line) for line in files.inputs.read_bytes().splitlines()]
    assert rows[1] == {**rows[0], "_ng_rollout_index": 1}
    assert [row.get("source_task") for row in rows] == [None, None, "u", "v"]
