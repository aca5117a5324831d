"""Stored rollouts as transcripts for fine-tuning, read with the library that trainers use."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest

from collector.curating.formats.rollout_choice import RolloutSource, find_source
from collector.curating.formats.transcripts import TranscriptSummary, write_dpo, write_sft
from collector.curating.rows import CuratedRow
from collector.errors import FileError, UsageError
from collector.rollout_lines import INDEX_FOLDER
from collector.warehouse.access import attach_for_reading
from collector.warehouse.scratch import open_scratch
from tests.responses import calls, gives, says, thinks
from tests.support import Profiled, Row, inputs_of, key, profiled, write_run

TOOL: Row = {"type": "function", "name": "add", "parameters": {"type": "object"}}
CHAT_TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
USER = {"role": "user", "content": "2 + 2? 😀"}
RUN = "run"
PARAMS = {"tools": [TOOL], "instructions": "Be brief."}
SOLUTION = (thinks("hm"), calls("{}", call_id="c"), gives("4"), says("4"), gives("late"))


def rollout(task: int, index: int, reward: float, *output: Row, **fields: object) -> Row:
    params = {"input": [USER], **dict(fields.pop("params", {}))}  # type: ignore[call-overload]
    response = {
        "output": list(output) or [says(f"I say {reward}")],
        "usage": {"output_tokens": fields.pop("tokens", 10)},
        "status": fields.pop("status", "completed"),
    }
    return key(
        task, index, reward=reward, responses_create_params=params, response=response, **fields
    )


ROLLOUTS = [
    # task 0: the best is 2, the shorter pass; the worst is 3
    rollout(0, 0, 1.0, says("truncated"), status="incomplete", tokens=1),
    rollout(0, 1, 1.0, says("long"), tokens=30),
    rollout(0, 2, 1.0, *SOLUTION, tokens=20, params=PARAMS),
    rollout(0, 3, 0.0, calls("{}", call_id="c"), says("5"), params=PARAMS),
    # task 1: partial rewards only
    rollout(1, 0, 0.2),
    rollout(1, 1, 0.6),
    # task 2: everything passes
    rollout(2, 0, 1.0, says("yes"), tokens=5),
    rollout(2, 1, 1.0, says("no"), tokens=6),
    # task 3: masked, or empty
    rollout(3, 0, 1.0, mask_sample=True),
    rollout(3, 1, 0.0, says(" ")),
    # task 4: an item that has no chat message
    rollout(4, 0, 1.0, {"type": "web_search_call", "id": "w"}, says("found")),
    rollout(4, 1, 0.0, says("not found")),
    # task 5: the prompts of the two differ
    rollout(5, 0, 1.0, params={"instructions": "Be brief."}),
    rollout(5, 1, 0.0, params={"instructions": "Be wordy."}),
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("transcripts")
    # the order of the file is not that of the rollouts
    lines = ROLLOUTS[::-1]
    return profiled(write_run(folder, lines, inputs=inputs_of(lines)), "--run-id", RUN)


@contextlib.contextmanager
def opened(
    run: Profiled, folder: Path, agent: str | None = None, run_id: str = RUN
) -> Iterator[RolloutSource]:
    with (
        contextlib.closing(open_scratch(None, folder / "spill")) as connection,
        attach_for_reading(connection, run.warehouse, on_wait=print),
    ):
        yield find_source(connection, run.warehouse, run_id, agent)


@pytest.fixture
def source(run: Profiled, tmp_path: Path) -> Iterator[RolloutSource]:
    with opened(run, tmp_path) as found:
        yield found


def tasks(*indices: int, note: dict[str, object] | None = None) -> list[CuratedRow]:
    row = json.dumps({"responses_create_params": {"input": "of the task"}}).encode()
    return [CuratedRow(index, f"id-{index}", row, note) for index in indices]


def draft(folder: Path) -> Path:
    path = folder / "train.jsonl"
    path.touch()
    return path


def load(path: Path) -> list[Row]:
    loaded = datasets.load_dataset(
        "json", data_files=str(path), cache_dir=str(path.parent / "cache"), keep_in_memory=True
    )
    return list(loaded["train"])


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_sft_has_the_best_rollout_of_each_passed_task_in_the_order_of_the_recipe(
    source: RolloutSource, tmp_path: Path
) -> None:
    path = draft(tmp_path)

    summary = write_sft(tasks(2, 1, 0, 3), path, source)

    second, first = lines(path)
    assert second == {"messages": [USER, {"role": "assistant", "content": "yes"}]}
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "c", "content": "4"},
        {"role": "assistant", "content": "4"},
    ]
    assert first["tools"] == [CHAT_TOOL]
    assert summary == TranscriptSummary(2, {"no passing rollout": 1, "no usable rollout": 1})  # type: ignore[arg-type]
    loaded = load(path)
    assert [row["messages"][-1]["content"] for row in loaded] == ["yes", "4"]
    assert loaded[1]["tools"][0]["function"]["name"] == "add"


def test_dpo_has_a_pass_and_a_failure_after_the_same_prompt(
    source: RolloutSource, tmp_path: Path
) -> None:
    path = draft(tmp_path)

    summary = write_dpo(tasks(0, 1, 2, 5), path, source)

    (row,) = load(path)
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["chosen"][-1]["content"] == "4"
    assert row["rejected"][0]["content"] == "5"
    assert row["rejected"][0]["tool_calls"][0]["function"]["name"] == "add"
    assert row["tools"][0]["function"]["name"] == "add"
    assert summary.omitted == {
        "not both a pass and a failure": 2,
        "the two rollouts had different prompts": 1,
    }


@pytest.mark.parametrize(("least", "written"), [(0.6, 3), (0.7, 2)], ids=["reached", "not reached"])
def test_a_least_reward_takes_the_place_of_passing(
    source: RolloutSource, tmp_path: Path, least: float, written: int
) -> None:
    summary = write_sft(tasks(0, 1, 2), draft(tmp_path), source, least_reward=least)
    assert summary.row_count == written
    assert sum(summary.omitted.values()) == 3 - written


@pytest.mark.parametrize(
    ("least", "written"), [(0.0, 2), (0.4, 2), (0.5, 1)], ids=["none", "reached", "not reached"]
)
def test_a_least_difference_takes_the_place_of_a_pass_and_a_failure(
    source: RolloutSource, tmp_path: Path, least: float, written: int
) -> None:
    # the best and the worst of task 2 are the same rollout
    summary = write_dpo(tasks(0, 1, 2), draft(tmp_path), source, least_difference=least)
    assert summary.row_count == written
    assert summary.omitted == {"the rewards differ too little": 3 - written}


def test_annotations_name_the_rollouts(source: RolloutSource, tmp_path: Path) -> None:
    path = draft(tmp_path)
    write_sft(tasks(0, note={"pass_rate": 0.5}), path, source)
    assert lines(path)[0]["spotter"] == {"pass_rate": 0.5, "rollout_index": 2, "reward": 1.0}
    write_dpo(tasks(0, note={"pass_rate": 0.5}), path, source)
    assert lines(path)[0]["spotter"] == {
        "pass_rate": 0.5,
        "chosen_rollout_index": 2,
        "chosen_reward": 1.0,
        "rejected_rollout_index": 3,
        "rejected_reward": 0.0,
    }


def test_a_rollout_without_chat_messages_is_left_out_with_its_reason(
    source: RolloutSource, tmp_path: Path
) -> None:
    summary = write_sft(tasks(4), draft(tmp_path), source)
    (reason,) = summary.omitted
    assert summary.row_count == 0
    assert "web_search_call" in reason


def test_a_rollout_that_does_not_repeat_its_prompt_gets_that_of_the_task(tmp_path: Path) -> None:
    row = {**rollout(0, 0, 1.0)}
    del row["responses_create_params"]
    run = profiled(write_run(tmp_path, [row], inputs=inputs_of([row])), "--run-id", RUN)
    path = draft(tmp_path)
    with opened(run, tmp_path) as source:
        write_sft(tasks(0), path, source)
    assert lines(path)[0]["messages"][0] == {"role": "user", "content": "of the task"}


def test_a_run_of_several_agents_needs_the_name_of_one(tmp_path: Path) -> None:
    rows = [
        rollout(0, at, 1.0, says(name), agent_ref={"name": name}) for at, name in enumerate("ab")
    ]
    run = profiled(write_run(tmp_path, rows, inputs=inputs_of(rows)), "--run-id", RUN)
    path = draft(tmp_path)
    with pytest.raises(UsageError, match="several agents: a, b"), opened(run, tmp_path):
        pass
    with (
        pytest.raises(UsageError, match="--agent c: the run has rollouts of a, b"),
        opened(run, tmp_path, "c"),
    ):
        pass
    with opened(run, tmp_path, "b") as source:
        write_sft(tasks(0), path, source)
    assert lines(path)[0]["messages"][-1]["content"] == "b"


def test_an_unknown_run_is_an_error(run: Profiled, tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="other is not a run of"),
        opened(run, tmp_path, run_id="other"),
    ):
        pass


def test_a_rollouts_file_that_is_gone_is_an_error(run: Profiled, tmp_path: Path) -> None:
    with opened(run, tmp_path) as source:
        gone = RolloutSource(tmp_path / "gone.jsonl", source.index_parent, source.pairs)
        with pytest.raises(FileError, match=r"gone\.jsonl"):
            write_sft(tasks(0), draft(tmp_path), gone)


def test_a_damaged_index_is_built_again(source: RolloutSource, tmp_path: Path) -> None:
    write_sft(tasks(0), draft(tmp_path), source)
    (index,) = (source.index_parent / INDEX_FOLDER).glob("*.sqlite")
    size = index.stat().st_size
    with source.reader() as read:
        index.write_bytes(b"\0" * size)
        assert read(0, 2)["_ng_rollout_index"] == 2
