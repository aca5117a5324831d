"""Inputs become the rows that NeMo Gym would write, or an error that names every bad line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from collector.collection.head_config import HeadConfig
from collector.collection.materialize import Materialized, materialize
from collector.collection.prompts import load_prompt
from collector.collection.settings import CollectSettings
from collector.collection.settings.rows import RowSettings
from collector.collection.sorting import sorted_lines
from collector.errors import LinesError, SpotterError
from collector.validation import validate_settings
from tests.support import ROOT

CASES = sorted((ROOT / "tests" / "fixtures" / "materialize").iterdir())
OKAY = [case for case in CASES if not case.name.startswith("error_")]
BROKEN = [case for case in CASES if case.name.startswith("error_")]
AGENT: dict[str, Any] = {"responses_api_agents": {"simple_agent": {}}}
PARAMS = '"responses_create_params":{}'


def run_case(case: Path) -> bytes:
    config: dict[str, Any] = json.loads((case / "config.json").read_text(encoding="utf-8"))
    source = case / "input.jsonl"
    given = {"input_jsonl_fpath": source, "output_jsonl_fpath": Path("out.jsonl"), **config}
    settings = validate_settings(CollectSettings, given)
    out = io.BytesIO()
    prompt = load_prompt(case / settings.prompt_config) if settings.prompt_config else None
    materialize(source, settings, out, prompt=prompt)
    return out.getvalue()


def run_text(
    tmp_path: Path, text: str, settings: RowSettings | None = None
) -> tuple[Materialized, list[Any]]:
    source = tmp_path / "tasks.jsonl"
    source.write_text(text, encoding="utf-8")
    out = io.BytesIO()
    done = materialize(source, settings or RowSettings(agent_name="a"), out)
    return done, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("case", OKAY, ids=lambda case: case.name)
def test_golden_case(case: Path) -> None:
    assert run_case(case) == (case / "materialized_inputs.jsonl").read_bytes()


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_golden_error(case: Path) -> None:
    with pytest.raises(SpotterError) as error:
        run_case(case)
    for word in json.loads((case / "error.json").read_text(encoding="utf-8"))["mentions"]:
        assert word in str(error.value)


def test_interleaved_repeats_are_sorted_also_when_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_lines, "__kwdefaults__", {"chunk_bytes": 64})
    text = "".join(f'{{"id":{number % 40},{PARAMS}}}\n' for number in range(50))
    _, rows = run_text(
        tmp_path, text, RowSettings(agent_name="a", num_repeats=3, interleave_repeats=True)
    )
    keys = [(row["_ng_rollout_index"], row["_ng_task_index"]) for row in rows]
    assert keys == sorted(keys)
    assert len(set(keys)) == 150


def test_each_agent_of_a_fan_out_starts_from_the_row_as_it_is(tmp_path: Path) -> None:
    own = '"agent_ref":{"name":"a","type":"x"}'
    settings = RowSettings(fan_out={"a": ["b", "a"]})
    _, rows = run_text(tmp_path, f"{{{PARAMS},{own}}}", settings)
    assert [row["agent_ref"] for row in rows] == [{"name": "b"}, {"name": "a", "type": "x"}]


def test_a_task_source_gets_its_agent_last(tmp_path: Path) -> None:
    source = tmp_path / "tasks.jsonl"
    source.write_text(f'{{{PARAMS},"task_source":"s"}}\n', encoding="utf-8")
    out = io.BytesIO()
    materialize(
        source, RowSettings(num_repeats={"s": 2}), out, agents=HeadConfig({"s": AGENT}, "h")
    )
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [list(row)[-2:] for row in rows] == [["_ng_rollout_index", "agent_ref"]] * 2
    assert rows[1]["agent_ref"] == {"name": "s"}


def test_a_last_line_without_newline_belongs_to_the_same_task(tmp_path: Path) -> None:
    _, rows = run_text(tmp_path, f"{{{PARAMS}}}\n{{{PARAMS}}}")
    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(0, 0), (0, 1)]


def test_blank_lines_and_a_byte_order_mark_are_no_rows(tmp_path: Path) -> None:
    done, rows = run_text(tmp_path, f"\ufeff{{{PARAMS}}}\r\n\n  \n{{{PARAMS}}}\r\n")
    assert (done.rollout_count, done.task_count, len(rows)) == (2, 1, 2)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        (f'{{{PARAMS},"agent_ref":"a"}}', "no agent"),
        (f'{{{PARAMS},"agent_ref":{{"name":7}}}}', "no agent"),
        ('{"responses_create_params":[]}', "not an object"),
        ("{}", "no responses_create_params"),
        (f'{{{PARAMS},"_ng_task_index":"x"}}', "not an index"),
        (f'{{{PARAMS},"_ng_task_index":true}}', "not an index"),
        (f'{{{PARAMS},"_ng_task_index":-1}}', "not an index"),
    ],
)
def test_every_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(LinesError, match=reason) as error:
        run_text(tmp_path, f"{{{PARAMS}}}\n{line}\n{{{PARAMS}}}\n{line}\n")
    assert error.value.numbers == [2, 4]
    assert "(lines 2, 4)" in str(error.value)


def test_many_bad_lines_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(LinesError) as error:
        run_text(tmp_path, "[]\n" * 5000)
    assert error.value.count == 5000
    assert "1-5000" in str(error.value)


def test_an_own_task_index_may_not_meet_one_that_was_given(tmp_path: Path) -> None:
    text = f'{{"id":1,{PARAMS}}}\n{{"id":2,{PARAMS},"_ng_task_index":0}}\n'
    with pytest.raises(LinesError, match="also given to a row") as error:
        run_text(tmp_path, text)
    assert error.value.numbers == [2]


def test_different_rows_of_one_own_task_are_remembered(tmp_path: Path) -> None:
    line = '{{"id":{},"responses_create_params":{{}},"_ng_task_index":4}}\n'
    done, _ = run_text(tmp_path, line.format(1) + line.format(1) + line.format(2))
    assert done.mixed_lines == [3]


def test_an_own_rollout_index_keeps_its_place_and_is_replaced(tmp_path: Path) -> None:
    _, rows = run_text(
        tmp_path, f'{{"_ng_rollout_index":9,{PARAMS}}}', RowSettings(agent_name="a", num_repeats=2)
    )
    assert [next(iter(row.items())) for row in rows] == [
        ("_ng_rollout_index", 0),
        ("_ng_rollout_index", 1),
    ]


@pytest.mark.parametrize("metadata", ["[]", '{"extra_body":"["}', '{"extra_body":{}}'])
def test_a_seed_needs_a_place(tmp_path: Path, metadata: str) -> None:
    text = f'{{"responses_create_params":{{"metadata":{metadata}}}}}'
    with pytest.raises(LinesError, match="extra_body"):
        run_text(tmp_path, text, RowSettings(agent_name="a", num_repeats_add_seed=True))


@pytest.mark.parametrize(
    "text",
    [
        "user: 1",
        "{}",
        "[]",
        "user: '{'",
        "user: '{}'",
        "user: x\nextra: y",
        "a: [",
    ],
)
def test_a_bad_prompt_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prompt.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpotterError, match=r"prompt\.yaml"):
        load_prompt(path)
