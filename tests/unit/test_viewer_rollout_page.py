from __future__ import annotations

import itertools
import json
import os
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette

from collector.viewer.pages import rollout, task
from collector.viewer.transcripts import files as transcripts
from tests.pages import app_of, get, link
from tests.responses import calls, gives, response, says, thinks
from tests.support import Profiled, Row, inputs_of, key, profiled, write_lines, write_run

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\ud800"
LONG = "long " * 20_000
TASKS = 5
REPEATS = 3


def made(index: int, repeat: int) -> Row:
    prompt = HOSTILE if index == 4 else f"What is {index}?"
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]
    answer = HOSTILE if index == 4 else LONG if index == 3 else f"It is {index + repeat}."
    return key(
        index,
        repeat,
        responses_create_params={"input": messages, "temperature": 0.5},
        expected_answer=HOSTILE if index == 4 else str(index),
        **response(thinks("Let me see"), calls('{"x": 1}', call_id="c"), gives("7"), says(answer)),
        reward=float(repeat == 0 or index == 1),
    )


ROWS = [made(index, repeat) for index in range(TASKS) for repeat in range(REPEATS)]


@pytest.fixture(scope="module")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    inputs = [
        {**row, "responses_create_params": full["responses_create_params"], "expected_answer": "e"}
        for row, full in zip(inputs_of(ROWS), ROWS, strict=True)
    ]
    folder = tmp_path_factory.mktemp("viewer")
    return profiled(write_run(folder, ROWS, inputs=inputs), "--run-id", "r")


@pytest.fixture
def app(made_run: Profiled) -> Starlette:
    return app_of(made_run.warehouse, [*rollout.ROUTES, *task.ROUTES])


@pytest.fixture
def restored(made_run: Profiled) -> Iterator[None]:
    """Put the file back as it was profiled."""
    found, content = made_run.rollouts.stat(), made_run.rollouts.read_bytes()
    yield
    made_run.rollouts.write_bytes(content)
    os.utime(made_run.rollouts, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_a_rollout_shows_its_conversation_and_what_is_known_of_it(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=2&rollout=1").text
    for text in (
        "What is 2?",
        "Be brief.",
        "Let me see",
        "It is 3.",
        "temperature",
        "Step 2",
    ):
        assert text in html
    assert "Show the query" in html
    assert '<span class="verdict">fail</span>' in html
    assert "banner" not in html


def test_the_ground_truth_comes_from_the_task_if_the_rollout_does_not_repeat_it(
    tmp_path: Path,
) -> None:
    rows = [key(0, 0, reward=1.0, **response(says("Yes.")))]
    inputs = [{**row, "ground_truth": ["It is right. ", LONG]} for row in inputs_of(rows)]
    made_run = profiled(write_run(tmp_path, rows, inputs=inputs), "--run-id", "r")
    app = app_of(made_run.warehouse, [*rollout.ROUTES, *task.ROUTES])
    html = get(app, "/rollout?run=r&task=0&rollout=0").text
    assert "Ground truth" in html
    assert "It is right." in html
    address = re.search(r'href="(/task/text[^"]*)"', html)
    assert address
    assert LONG in get(app, unescape(address[1])).text


def test_the_keys_lead_to_other_attempts_and_tasks(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=2&rollout=1").text
    assert link(html, "Previous rollout") == "/rollout?run=r&task=2&rollout=0"
    assert link(html, "Next rollout") == "/rollout?run=r&task=2&rollout=2"
    assert link(html, "Previous task") == "/rollout?run=r&task=1&rollout=0"
    assert link(html, "Next task") == "/rollout?run=r&task=3&rollout=0"
    assert link(html, "Up to the task") == "/task?run=r&task=2"
    assert link(get(app, "/rollout?run=r&task=0&rollout=0").text, "Previous task") is None
    assert link(get(app, "/rollout?run=r&task=4&rollout=2").text, "Next rollout") is None


def test_the_next_task_is_that_of_the_filtered_and_sorted_list(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=2&rollout=0&sort=-task_index&q=What+is").text
    assert link(html, "Next task") == "/rollout?run=r&task=1&rollout=0&sort=-task_index&q=What+is"
    assert link(html, "Previous task") == (
        "/rollout?run=r&task=3&rollout=0&sort=-task_index&q=What+is"
    )
    assert "task 2 of 4 in the list" in html
    html = get(app, "/task?run=r&task=2&f.pass_ratio=%3C1").text
    assert link(html, "Previous task") == "/task?run=r&task=0&f.pass_ratio=%3C1"
    assert link(html, "Up to the tasks") == "/tasks?run=r&f.pass_ratio=%3C1"
    html = get(app, "/rollout?run=r&task=2&rollout=0&f.pass_ratio=rubbish").text
    assert link(html, "Next task")


def test_nothing_hostile_gets_onto_the_pages(app: Starlette) -> None:
    for address in ("/rollout?run=r&task=4&rollout=1", "/task?run=r&task=4&a=0&b=1"):
        answer = get(app, address)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "&lt;script&gt;alert(1)" in answer.text
        for char in ("\x1b", "\u202e"):
            assert char not in answer.text
        assert not re.search(r"\son\w+=|style=|href=\"javascript", answer.text)


def test_a_long_text_is_cut_and_can_be_read_in_full(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=3&rollout=0").text
    assert len(html) < 100_000
    address = link(html, "Show all 100,000 characters")
    assert address
    whole = get(app, address)
    assert whole.text == LONG
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"


def test_a_text_is_served_as_nothing_but_text(app: Starlette) -> None:
    part = "/responses_create_params/input/1/content"
    for page in ("/rollout/text?rollout=0&", "/task/text?"):
        answer = get(app, f"{page}run=r&task=4&part={part}")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.text.startswith("<script>alert(1)</script>")
        assert "\ud800" not in answer.text


@pytest.mark.parametrize(
    "part", ["", "/", "/nothing", "/response/output/99", "/response/output/x", "~"]
)
def test_a_part_that_is_not_there_gives_the_last_that_is(app: Starlette, part: str) -> None:
    answer = get(app, f"/rollout/text?run=r&task=2&rollout=0&part={part}")
    assert answer.status_code == 200
    assert "It is 2." in answer.text


def test_the_raw_json_is_what_the_file_says(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=4&rollout=1").text
    source = re.search(r'data-src="([^"]+)"', html)
    assert source
    answer = get(app, unescape(source[1]))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert json.loads(answer.text) == made(4, 1)


@pytest.mark.parametrize(
    "address",
    [
        "/rollout?run=r&task=2&rollout=99",
        "/rollout?run=r&task=99&rollout=0",
        "/rollout?run=gone&task=2&rollout=0",
        "/rollout?run=r&task=x&rollout=0",
        "/rollout?run=r&task=-1&rollout=0",
        "/rollout?run=r",
        "/rollout/raw?run=r&task=2&rollout=99",
        "/rollout/text?run=r&task=2&rollout=99&part=/x",
        "/task?run=r&task=99",
        "/task?run=gone&task=1",
        "/task/text?run=r&task=99",
    ],
)
def test_what_is_not_there_is_not_found(app: Starlette, address: str) -> None:
    answer = get(app, address)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


@pytest.mark.usefixtures("restored")
def test_a_missing_file_leaves_what_the_marts_know(app: Starlette, made_run: Profiled) -> None:
    made_run.rollouts.unlink()
    for address in ("/rollout?run=r&task=2&rollout=1", "/task?run=r&task=2&a=0&b=1"):
        answer = get(app, address)
        assert answer.status_code == 200
        assert "cannot be shown" in answer.text
        assert "cannot read the rollouts file" in answer.text
    assert "What is 2?" in get(app, "/task?run=r&task=2").text
    assert get(app, "/rollout?run=r&task=2&rollout=9").status_code == 404
    assert get(app, "/rollout/raw?run=r&task=2&rollout=1").status_code == 404


@pytest.mark.usefixtures("restored")
def test_a_changed_file_is_shown_with_a_warning(app: Starlette, made_run: Profiled) -> None:
    rows = [{**row, "reward": 0.25} if row["_ng_task_index"] == 2 else row for row in ROWS]
    write_lines(made_run.rollouts, [*rows, made(9, 9)])
    html = get(app, "/rollout?run=r&task=2&rollout=0").text
    assert "The file changed after it was profiled" in html
    assert "The reward in the file is 0.25, but it was 1.0" in html
    html = get(app, "/rollout?run=r&task=1&rollout=0").text
    assert "The reward in the file" not in html
    html = get(app, "/rollout?run=r&task=9&rollout=9").text
    assert "This rollout was collected after the file was profiled" in html
    assert "It is 18." in html
    html = get(app, "/task?run=r&task=2&a=0&b=1").text
    assert "The file changed after it was profiled" in html


@pytest.mark.usefixtures("restored")
def test_a_rollout_that_left_the_file_is_said_to_be_gone(
    app: Starlette, made_run: Profiled
) -> None:
    write_lines(made_run.rollouts, ROWS[:3])
    answer = get(app, "/rollout?run=r&task=2&rollout=0")
    assert answer.status_code == 200
    assert "has no rollout 0 of task 2" in answer.text


@pytest.mark.usefixtures("restored")
def test_one_attempt_that_left_the_file_does_not_hide_the_others(
    app: Starlette, made_run: Profiled
) -> None:
    write_lines(made_run.rollouts, [row for row in ROWS if row["_ng_rollout_index"]])
    html = get(app, "/task?run=r&task=2").text
    assert "has no rollout 0 of task 2" in html
    assert "It is 4." in html


@pytest.mark.usefixtures("restored")
def test_a_page_waits_for_the_index(made_run: Profiled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "SMALL_BYTES", 1)
    write_lines(made_run.rollouts, [*ROWS, made(7, 7)])
    app = app_of(made_run.warehouse, [*rollout.ROUTES, *task.ROUTES])
    answer = get(app, "/rollout?run=r&task=2&rollout=0")
    assert answer.status_code == 503
    assert '<meta http-equiv="refresh" content="1">' in answer.text
    assert "Spotter is indexing" in answer.text
    deadline = time.monotonic() + 20
    while answer.status_code == 503 and time.monotonic() < deadline:
        time.sleep(0.05)
        answer = get(app, "/rollout?run=r&task=2&rollout=0")
    assert "It is 2." in answer.text


def test_a_task_shows_what_was_asked_and_every_attempt(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=2").text
    for text in ("Be brief.", "What is 2?", "Ground truth", "It is 2.", "It is 3.", "It is 4."):
        assert text in html
    assert html.count('<li class="card') == 3
    assert link(html, "Rollout 1") == "/rollout?run=r&task=2&rollout=1"
    assert html.count("Show the query") == 2


def test_attempts_come_in_pages(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "CARDS", 2)
    html = get(app, "/task?run=r&task=2&page=7").text  # the page of the tasks
    assert html.count('<li class="card') == 2
    assert link(html, "Rollout 0")
    assert link(html, "Next page") == "/task?run=r&task=2&page=7&attempts=2#attempts-title"
    assert link(html, "Up to the tasks") == "/tasks?run=r&page=7"
    html = get(app, "/task?run=r&task=2&attempts=99999").text
    assert link(html, "Rollout 2")
    assert link(html, "Rollout 1") is None


def test_the_best_and_the_worst_attempt_are_proposed(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=2").text
    chosen = re.findall(r'<option value="(\d+)" selected>', html)
    assert chosen == ["0", "2"]
    assert 'class="pair' not in html


def test_two_attempts_are_compared(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=2&a=1&b=2").text
    assert re.findall(r'<option value="(\d+)" selected>', html) == ["1", "2"]
    assert '<del><span class="sr">only in A: </span> 3.<span class="sr"> end </span></del>' in html
    assert '<ins><span class="sr">only in B: </span> 4.<span class="sr"> end </span></ins>' in html
    assert "Same in both: step 1: call of add" in html


def test_headings_are_in_order(app: Starlette) -> None:
    for address in ("/rollout?run=r&task=2&rollout=1", "/task?run=r&task=2&a=0&b=1"):
        html = get(app, address).text
        levels = [int(level) for level in re.findall(r"<h(\d)", html.partition("<main")[2])]
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        assert levels.count(1) == 1
