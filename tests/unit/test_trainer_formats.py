"""Curated rows in the formats of verl, SkyRL and slime, read as these trainers read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet
import pytest

from collector.curating.formats import parquet
from collector.curating.formats.fields import FormatFields
from collector.curating.formats.trainers import TRAINERS, FormatSummary, write_format
from collector.curating.rows import CuratedRow
from collector.errors import FileError, UsageError
from tests.support import Row

SYSTEM: Row = {"role": "system", "content": "Be brief."}
TOOL: Row = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
CHAT_TOOL: Row = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object"}},
}
CALL: Row = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{}"}
RESULT: Row = {"type": "function_call_output", "call_id": "c1", "output": "found"}
IMAGE: Row = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def user(text: str) -> Row:
    return {"role": "user", "content": text}


def task(prompt: Any, **fields: Any) -> Row:
    params = {"input": prompt, **fields.pop("params", {})}
    return {"responses_create_params": params, "expected_answer": "4", **fields}


def curated(rows: Iterable[Row | bytes], note: dict[str, object] | None = None) -> list[CuratedRow]:
    raw = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return [CuratedRow(10 + at, f"id-{at}", row, note) for at, row in enumerate(raw)]


def write(
    folder: Path, name: str, rows: Iterable[CuratedRow], fields: FormatFields | None = None
) -> tuple[Path, FormatSummary]:
    path = folder / f"train{TRAINERS[name].suffix}"
    path.touch()
    return path, write_format(name, rows, path, fields or FormatFields())


def load(path: Path) -> list[Row]:
    """Load a file with the library that verl and SkyRL use."""
    kind = "parquet" if path.suffix == ".parquet" else "json"
    loaded = datasets.load_dataset(
        kind, data_files=str(path), cache_dir=str(path.parent / "cache"), keep_in_memory=True
    )
    return list(loaded["train"])


def slime_rows(path: Path) -> list[Row]:
    """Read lines as slime does: the tools must be a list, and the metadata an object."""
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert all(isinstance(row["tools"], list) and isinstance(row["metadata"], dict) for row in rows)
    return rows


def test_verl_reads_messages_the_answer_and_the_place_of_each_row(tmp_path: Path) -> None:
    rows = [
        task([SYSTEM, user("2 + 2?")], agent_ref={"name": "math"}, category="sums"),
        task("Bare text", expected_answer={"x": 1}),
    ]
    path, summary = write(tmp_path, "verl", curated(rows, {"pass_rate": 0.5}))

    first, second = load(path)

    assert summary == FormatSummary(row_count=2, answer_field="expected_answer")
    assert list(first) == ["data_source", "prompt", "ability", "reward_model", "extra_info"]
    assert (first["data_source"], first["ability"]) == ("math", "sums")
    assert first["prompt"] == [SYSTEM, user("2 + 2?")]
    assert first["reward_model"] == {"style": "rule", "ground_truth": "4"}
    info = first["extra_info"]
    assert (info["split"], info["index"], info["task_id"], info["task_index"]) == (
        "train", 0, "id-0", 10,
    )  # fmt: skip
    assert json.loads(info["row"]) == rows[0]
    assert json.loads(info["spotter"]) == {"pass_rate": 0.5}
    assert second["prompt"] == [user("Bare text")]
    assert second["reward_model"]["ground_truth"] == '{"x":1}'
    assert (second["data_source"], second["ability"]) == ("nemo_gym", "general")
    assert second["extra_info"]["index"] == 1


def test_skyrl_reads_the_prompt_the_environment_and_the_answer(tmp_path: Path) -> None:
    fields = FormatFields(env_class="gsm8k", data_source="sums", split="validation")
    path, _ = write(tmp_path, "skyrl", curated([task([user("2 + 2?")])]), fields)

    (row,) = load(path)

    assert row.pop("prompt") == [user("2 + 2?")]
    assert row.pop("env_class") == "gsm8k"
    assert row["reward_spec"] == {"method": "rule", "ground_truth": "4"}
    assert (row["data_source"], row["extra_info"]["split"]) == ("sums", "validation")


def test_skyrl_gets_no_environment_unless_one_is_named(tmp_path: Path) -> None:
    path, _ = write(tmp_path, "skyrl", curated([task("a")]))
    assert load(path)[0]["env_class"] is None


def test_slime_reads_messages_the_label_and_the_tools(tmp_path: Path) -> None:
    rows = [task([user("2 + 2?")], params={"tools": [TOOL]}), task("Bare text")]
    path, _ = write(tmp_path, "slime", curated(rows))

    first, second = slime_rows(path)

    assert first["input"] == [user("2 + 2?")]
    assert first["label"] == "4"
    assert first["tools"] == [CHAT_TOOL]
    assert first["metadata"]["task_id"] == "id-0"
    assert json.loads(first["metadata"]["row"]) == rows[0]
    assert (second["input"], second["tools"]) == ([user("Bare text")], [])


@pytest.mark.parametrize("name", TRAINERS)
def test_a_format_keeps_order_and_text_of_many_rows(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "GROUP_BYTES", 100_000)  # several groups of rows
    texts = [f"Grüße 😀 \u2028 \x00 {at}" for at in range(5_000)]
    path, summary = write(tmp_path, name, curated(task(text) for text in reversed(texts)))

    rows = slime_rows(path) if name == "slime" else load(path)

    prompt = "input" if name == "slime" else "prompt"
    assert [row[prompt][0]["content"] for row in rows] == texts[::-1]
    assert summary.row_count == len(texts)


def test_rows_with_and_without_tool_calls_have_the_same_columns(tmp_path: Path) -> None:
    prompt = [user("a"), CALL, RESULT, user("b")]
    rows = [task("plain"), task(prompt, params={"tools": [TOOL], "instructions": "Be brief."})]
    path, _ = write(tmp_path, "verl", curated(rows))

    plain, calling = load(path)

    assert plain["prompt"][0]["tool_calls"] is None
    assert [message["role"] for message in calling["prompt"]] == [
        "system", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    (call,) = calling["prompt"][2]["tool_calls"]
    assert call["function"] == {"name": "look_up", "arguments": "{}"}
    assert calling["prompt"][3]["tool_call_id"] == "c1"
    assert json.loads(calling["extra_info"]["tools"]) == [CHAT_TOOL]


def test_prompts_of_text_alone_have_only_a_role_and_a_content(tmp_path: Path) -> None:
    path, _ = write(tmp_path, "verl", curated([task([SYSTEM, user("a")])]))
    message = pyarrow.parquet.read_schema(path).field("prompt").type.value_type
    assert [field.name for field in message] == ["role", "content"]


def test_files_without_rows_have_the_columns_of_any_other(tmp_path: Path) -> None:
    path, summary = write(tmp_path, "verl", [])
    (tmp_path / "filled").mkdir()
    filled, _ = write(tmp_path / "filled", "verl", curated([task("a")]))
    names = ["data_source", "prompt", "ability", "reward_model", "extra_info"]
    assert pyarrow.parquet.read_schema(path).names == names
    assert pyarrow.parquet.read_schema(filled).names == names
    assert summary.row_count == 0


def test_the_answer_is_the_first_known_field_that_every_row_has(tmp_path: Path) -> None:
    rows = [
        {**task("a"), "ground_truth": "1", "verifier_metadata": {"gold": "x"}},
        {**task("b"), "ground_truth": None, "verifier_metadata": {"gold": "y"}},
        {**task("c"), "expected_answer": None, "verifier_metadata": {"gold": "z"}},
    ]
    path, summary = write(tmp_path, "verl", curated(rows))
    assert summary.answer_field == "verifier_metadata.gold"
    assert [row["reward_model"]["ground_truth"] for row in load(path)] == ["x", "y", "z"]


def test_options_name_the_prompt_and_the_answer(tmp_path: Path) -> None:
    row = {"question": "Why?", "judge": {"rubric": ["a", "b"]}, "responses_create_params": {}}
    fields = FormatFields(prompt="question", answer="judge.rubric")
    path, _ = write(tmp_path, "slime", curated([row]), fields)
    (read,) = slime_rows(path)
    assert (read["input"], read["label"]) == ([user("Why?")], '["a","b"]')


def test_no_answers_are_written_if_the_option_is_empty(tmp_path: Path) -> None:
    path, summary = write(tmp_path, "verl", curated([task("a")]), FormatFields(answer=""))
    assert load(path)[0]["reward_model"]["ground_truth"] is None
    assert summary.answer_field is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [(FormatFields(), "no field that is known"), (FormatFields(answer="truth"), "has no truth")],
    ids=["none known", "none of that name"],
)
def test_a_row_without_an_answer_is_an_error_that_lists_its_fields(
    tmp_path: Path, fields: FormatFields, told: str
) -> None:
    rows = curated([{**task("a"), "expected_answer": None, "verifier_metadata": {"rule": 1}}])
    with pytest.raises(UsageError, match=told) as error:
        write(tmp_path, "verl", rows, fields)
    assert "the row of task 10" in str(error.value)
    assert "verifier_metadata.rule" in str(error.value)
    assert "--answer-field" in str(error.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (task(None), "there is no responses_create_params.input"),
        (task([]), "the prompt has no messages"),
        (task([{"type": "web_search_call"}]), "web_search_call"),
        (task([{"role": "user", "content": [IMAGE]}]), "not only text"),
        (task("a", params={"tools": [{"type": "mcp"}]}), "mcp"),
    ],
    ids=["no prompt", "empty prompt", "unknown item", "image", "unknown tool"],
)
def test_a_prompt_that_is_not_chat_text_is_an_error_with_its_task(
    tmp_path: Path, row: Row, told: str
) -> None:
    with pytest.raises(UsageError, match=told) as error:
        write(tmp_path, "verl", curated([row]))
    assert "the prompt of the row of task 10" in str(error.value)
    assert "what to do" in str(error.value)


def test_slime_keeps_images_and_joins_texts(tmp_path: Path) -> None:
    texts = [{"type": "input_text", "text": text} for text in ("a", "b")]
    rows = [
        task([{"role": "user", "content": [IMAGE, *texts]}]),
        task([{"role": "user", "content": texts}]),
    ]
    path, _ = write(tmp_path, "slime", curated(rows))
    first, second = slime_rows(path)
    assert first["input"][0]["content"][0]["type"] == "image_url"
    assert second["input"] == [user("a\nb")]


@pytest.mark.parametrize("name", TRAINERS)
def test_half_of_a_surrogate_pair_becomes_a_replacement_character(
    tmp_path: Path, name: str
) -> None:
    path, _ = write(tmp_path, name, curated([task("a\ud800b", expected_answer=10**30)]))
    (row,) = slime_rows(path) if name == "slime" else load(path)
    prompt = row["input" if name == "slime" else "prompt"]
    assert prompt == [user("a\N{REPLACEMENT CHARACTER}b")]
    original = row["metadata" if name == "slime" else "extra_info"]["row"]
    assert json.loads(original) == task("a\ud800b", expected_answer=10**30)


def test_a_row_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the row of task 10 cannot be read"):
        write(tmp_path, "verl", curated([b"{"]))


def test_nothing_but_the_draft_is_left_in_the_folder(tmp_path: Path) -> None:
    path, _ = write(tmp_path, "verl", curated([task("a")]))
    with pytest.raises(UsageError):
        write(tmp_path, "verl", curated([task([])]))
    assert list(tmp_path.iterdir()) == [path]
