"""Searching in what rollouts say: the texts, their index, and the table of rollouts."""

from __future__ import annotations

import json
import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette

from collector.errors import FileError
from collector.rollout_lines import INDEX_FOLDER
from collector.viewer import searches
from collector.viewer.background import WaitingError
from collector.viewer.pages import rollout, rollouts
from collector.viewer.searches import Searches
from collector.viewer.transcripts import text_index
from collector.viewer.transcripts.spoken_text import excerpt, spoken_text
from collector.viewer.transcripts.text_index import TextIndex
from tests.pages import app_of, get
from tests.responses import calls, gives, response, says, thinks
from tests.support import Profiled, Row, inputs_of, key, profiled, write_lines, write_run

CHAT_CALL = {"id": "c", "function": {"name": "find", "arguments": '{"x": "Müller"}'}}


def said(*output: Row) -> str:
    asked = {"input": [{"role": "user", "content": "the prompt"}]}
    return spoken_text({"responses_create_params": asked, **response(*output)})


TEXTS = {
    "a message": (says("It  is\n7."), "It is 7."),
    "a call": (calls('{"query": "a \\"b\\"\\nc"}', name="search"), 'search {"query": "a "b" c"}'),
    "a call that is not JSON": (calls("{oh", name="search"), "search {oh"),
    "a chat message": ({"role": "assistant", "content": "Hello", "tool_calls": [CHAT_CALL]},
                       'Hello find {"x": "Müller"}'),
    "reasoning": (thinks("hm"), ""),
    "a result": (gives("42"), ""),
    "what a user says": ({"role": "user", "content": "Do it"}, ""),
    "reasoning in tags": (says("<think>hm</think> Yes"), "Yes"),
    "no text": ({"type": "message", "role": "assistant", "content": None}, ""),
    "something else": ({"type": "web_search_call", "query": "x"},
                       '{"type": "web_search_call", "query": "x"}'),
    "a type of another kind": ({"type": ["x"]}, '{"type": ["x"]}'),
}  # fmt: skip


@pytest.mark.parametrize(("output", "expected"), TEXTS.values(), ids=TEXTS)
def test_what_a_rollout_says_are_its_messages_and_calls(output: Row, expected: str) -> None:
    assert said(output) == expected


def test_an_excerpt_shows_the_place_as_written() -> None:
    found = excerpt("word " * 50 + "The SUM is 7" + " word" * 50, "sum  IS")
    assert found
    assert found.found == "SUM is"
    assert found.before.endswith(" The ")
    assert found.before.startswith("…")
    assert found.after.startswith(" 7 word")
    assert excerpt("nothing", "sum") is None


# --- the index -----------------------------------------------------------------------------------


def spoken(task: int, index: int, text: str) -> Row:
    return {**key(task, index), **response(says(text))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rollouts.jsonl"
    texts = ["Straße 12", "the  SUM\nis", "12 monkeys", "\ud800 <b>\x00", ""]
    write_lines(path, [spoken(12, index, text) for index, text in enumerate(texts)])
    return path


@pytest.fixture
def index(file: Path) -> TextIndex:
    made = TextIndex(file, file.parent)
    update(made)
    return made


def update(index: TextIndex) -> int:
    """Bring an index up to date; return how many bytes it had to read."""
    pending = index.pending_bytes()
    index.update(lambda _done, _total: None)
    assert index.pending_bytes() == 0
    return pending


def found(index: TextIndex, query: str) -> list[int]:
    keys = index.find(query).keys
    assert all(task == 12 for task, _ in keys)
    return [rollout for _, rollout in keys]


FOUND = {
    "sum is": [1], "STRASSE": [0], " the   sum ": [1], "12": [0, 2], "\x00": [3], "<b>": [3],
    "nothing": [], "12\t": [0, 2],
}  # fmt: skip


@pytest.mark.parametrize("chunk", [1 << 20, 7], ids=["one block", "small blocks"])
@pytest.mark.parametrize("query", FOUND)
def test_case_and_white_space_do_not_matter_and_indices_are_not_text(
    query: str, chunk: int, index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "CHUNK_BYTES", chunk)
    assert found(index, query) == FOUND[query]


def test_too_many_are_cut(index: TextIndex) -> None:
    cut = index.find("12", most=1)
    assert (cut.keys, cut.is_cut) == ([(12, 0)], True)
    assert not index.find("12", most=2).is_cut


def test_a_file_that_grew_is_read_from_where_it_ended(file: Path, index: TextIndex) -> None:
    size = file.stat().st_size
    with file.open("ab") as out:
        out.write(json.dumps(spoken(12, 5, "12 and more")).encode() + b"\n")
    assert update(index) == file.stat().st_size - size
    assert found(index, "12") == [0, 2, 5]


def test_an_unfinished_last_line_is_found_once_when_it_is_finished(
    file: Path, index: TextIndex
) -> None:
    line = json.dumps(spoken(12, 5, "penguin")).encode()
    with file.open("ab") as out:
        out.write(line)
    update(index)
    assert found(index, "penguin") == [5]
    with file.open("ab") as out:
        out.write(b"\n" + json.dumps(spoken(12, 6, "penguin")).encode() + b"\n")
    update(index)
    assert found(index, "penguin") == [5, 6]


def test_a_file_that_changed_is_read_again(file: Path, index: TextIndex) -> None:
    write_lines(file, [spoken(12, 7, "something else")])
    update(index)
    assert found(index, "12") == []
    assert found(index, "else") == [7]


@pytest.mark.parametrize("damage", [b"", b"SPOTTEXT", b"\xff" * 8 + b"SPOTTEXT"], ids=str)
def test_a_damaged_index_is_built_again(damage: bytes, index: TextIndex) -> None:
    index.path.write_bytes(damage)
    with pytest.raises(FileError):
        index.find("sum")
    update(index)
    assert found(index, "sum") == [1]


def test_texts_that_were_damaged_are_built_again(index: TextIndex) -> None:
    whole = index.path.read_bytes()
    index.path.write_bytes(whole.replace(b"12\t1\t", b"12x1x"))
    with pytest.raises(FileError):
        index.find("sum")
    update(index)
    assert found(index, "sum") == [1]


def test_the_index_of_another_file_is_not_used(file: Path, index: TextIndex) -> None:
    other = file.with_name("other.jsonl")
    shutil.copy2(file, other)
    twin = TextIndex(other, file.parent)
    shutil.copy2(index.path, twin.path)
    assert twin.pending_bytes() == file.stat().st_size


def test_a_file_that_is_gone_cannot_be_searched(file: Path, tmp_path: Path) -> None:
    file.unlink()
    with pytest.raises(FileError):
        Searches(tmp_path).find(file, "sum")


def test_a_large_file_is_indexed_by_another_process(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "SMALL_BYTES", 1)
    made = Searches(tmp_path / "index", patience_seconds=0)
    with pytest.raises(WaitingError):
        made.find(file, "sum")
    assert made.search([file], "sum").is_waiting
    made.patience_seconds = 120
    assert made.find(file, "sum").keys == [(12, 1)]
    made.close()


# --- the page ------------------------------------------------------------------------------------


def made(task: int, index: int) -> Row:
    text = f"The sum is {task + index}." if task else "<script>window.pwned=1</script>"
    return {
        **key(task, index),
        **response(calls(f'{{"to": "Ada {index}"}}', name="send_mail"), gives("sent"), says(text)),
        "reward": float(index == 0),
        "extracted_answer": f"answer {task}",
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    rows = [made(task, index) for task in range(4) for index in range(3)]
    folder = tmp_path_factory.mktemp("search")
    return profiled(write_run(folder, rows, inputs=inputs_of(rows)), "--run-id", "r")


@pytest.fixture
def app(run: Profiled) -> Starlette:
    return app_of(run.warehouse, [*rollouts.ROUTES, *rollout.ROUTES])


def shown(html: str) -> list[tuple[str, str]]:
    """The rollout and the task of each row."""
    return re.findall(r'aria-label="rollout (\d+) of task (\d+)"', html)


def test_a_search_finds_rollouts_by_what_they_say(app: Starlette) -> None:
    html = get(app, "/rollouts?run=r&q=sum+is+3").text
    assert sorted(shown(html)) == [("0", "3"), ("1", "2"), ("2", "1")]
    assert "The <mark>sum is 3</mark>." in html
    assert "Show the query" in html


def test_a_search_finds_rollouts_by_their_tool_calls(app: Starlette) -> None:
    html = get(app, '/rollouts?run=r&f.task_index=2&q="to":+"ada+1').text
    assert shown(html) == [("1", "2")]
    assert unescape(html).count('send_mail {<mark>"to": "Ada 1</mark>"}') == 1


def test_a_search_still_finds_answers(app: Starlette) -> None:
    assert len(shown(get(app, "/rollouts?run=r&q=answer+2").text)) == 3


def test_excerpts_are_escaped(app: Starlette) -> None:
    html = get(app, "/rollouts?run=r&q=pwned").text
    assert len(shown(html)) == 3
    assert "<script>window" not in html


def test_next_rollout_follows_the_search(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=2&rollout=1&list=rollouts&q=sum+is+3").text
    assert "Rollout 2 of 3 in the list." in html


def test_a_search_without_the_file_says_what_it_covers(app: Starlette, run: Profiled) -> None:
    away = run.rollouts.with_name("away.jsonl")
    run.rollouts.rename(away)
    try:
        html = get(app, "/rollouts?run=r&q=answer+2").text
    finally:
        away.rename(run.rollouts)
    assert len(shown(html)) == 3
    assert "The search covers only the answers" in html


def test_a_page_that_waits_for_the_index_says_so_and_reloads(
    app: Starlette, run: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (run.rollouts.parent / INDEX_FOLDER).glob("*.texts"):
        path.unlink()
    os.utime(run.rollouts)
    monkeypatch.setattr(searches, "SMALL_BYTES", 1)
    app.state.viewer.searches.patience_seconds = 0
    html = get(app, "/rollouts?run=r&q=sum+is+3").text
    assert "covers only the answers. This page updates by itself." in " ".join(html.split())
    assert 'http-equiv="refresh"' in html
    app.state.viewer.searches.close()
