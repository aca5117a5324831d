"""`spotter import --from mapping.yml`: home-made JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.imports import ImportedRun, Row, import_case, source_key
from tests.programs import run_command

CHAT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "4", "reasoning_content": "Easy."},
]
ROWS = [
    {"qid": "a", "n": 1, "eval": {"score": 1, "len": 3}, "chat": CHAT, "tokens": [7, 2]},
    {"qid": "a", "n": 0, "eval": {"score": 0}, "chat": CHAT, "who": "me", "level": 3},
    {"qid": "b", "n": 0, "eval": {"score": 0}, "chat": CHAT[:2], "oops": {"type": "Timeout"}},
]
FULL = """
task: qid
rollout: n
reward: eval.score
messages: $.chat
input_tokens: tokens[0]
output_tokens: tokens[-1]
error: oops
metrics: {length: eval.len}
"""


def import_rows(folder: Path, mapping: str, rows: list[Row]) -> ImportedRun:
    (folder / "mapping.yml").write_text(mapping, encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "mine.jsonl").write_text(text, encoding="utf-8")
    [run] = import_case(folder / "mine.jsonl", folder / "run.jsonl", "--from", "mapping.yml")
    return run


def test_a_mapping_says_where_everything_is(tmp_path: Path) -> None:
    run = import_rows(tmp_path, FULL, ROWS)
    first, second = run.rollouts
    assert [source_key(first), source_key(second)] == [("a", 1), ("a", 0)]
    assert [row["reward"] for row in run.rollouts] == [1, 0]
    assert first["length"] == 3
    assert first["response"]["usage"]["total_tokens"] == 9
    assert first["responses_create_params"]["input"] == CHAT[:2]
    assert [item["type"] for item in first["response"]["output"]] == ["reasoning", "message"]
    assert (second["who"], second["details"]) == ("me", {"level": 3})
    [failure] = run.failures
    assert (failure["_ng_failure_class"], failure["stored_reward"]) == ("Timeout", 0)


def test_three_lines_are_enough(tmp_path: Path) -> None:
    rows = [{"q": "2 + 2?", "a": "4", "ok": True}, {"q": "1 + 1?", "a": "3", "ok": False}] * 2
    run = import_rows(tmp_path, "reward: ok\ninput: q\noutput: a\n", rows)
    assert [source_key(row) for row in run.rollouts] == [("t0", 0), ("t1", 0), ("t0", 1), ("t1", 1)]
    assert run.data["losses"] == []


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ("rewrd: ok\ninput: q\n", "unknown name rewrd; did you mean reward?"),
        ("input: q\n", "reward is missing"),
        ("reward: ok\n", "give either messages, or input and output"),
        ("reward: ok[\ninput: q\n", "is not a path"),
        ("reward: points\ninput: q\n", "no row has points, which the mapping gives as reward"),
        ("- a\n", "it must have names and fields"),
        ("reward: [\n", "not valid YAML"),
    ],
    ids=["misspelled", "no reward", "no question", "no path", "absent", "a list", "no YAML"],
)
def test_a_wrong_mapping_is_refused(mapping: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mapping.yml").write_text(mapping, encoding="utf-8")
    (tmp_path / "mine.jsonl").write_text('{"q": "?", "ok": 1}\n', encoding="utf-8")
    words = ("import", "mine.jsonl", "-o", "run.jsonl", "--from", "mapping.yml")
    done = run_command("spotter", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mapping.yml", "mine.jsonl"]


def test_a_field_that_no_row_has_is_reported(tmp_path: Path) -> None:
    run = import_rows(tmp_path, "reward: ok\ninput: q\nmodel: m\n", [{"q": "?", "ok": 1}])
    assert run.data["losses"] == ["no row has m (model)"]
