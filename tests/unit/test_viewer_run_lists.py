"""The tables and charts of a run with slices and verifier fields: what a bar counts, it opens."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from starlette.applications import Starlette

from collector.viewer.pages import curate, rollout, rollouts, run, task, tasks
from tests.pages import app_of, get
from tests.responses import response, says
from tests.support import Profiled, Row, key, profiled, write_run

TASKS = 12
REPEATS = 4
LEVELS = ("hard", "easy", "medium")
ODD = 'a "field" of $run'
DIFFICULTY = "slice_0"
PAGES = (curate, rollout, rollouts, run, task, tasks)


def made(index: int, repeat: int) -> Row:
    return key(
        index,
        repeat,
        difficulty=LEVELS[index % 3],
        **{ODD: "few" if index < 2 else "many"},
        **response(says(f"It is {index}.")),
        reward=(index * 7 + repeat * 5) % 48 / 47,
        judge_score=index / 10,
        is_polite=repeat % 2 == 0,
        ground_truth=json.dumps([{"name": "send", "arguments": '{"to": "a \\"b\\""}'}]),
    )


ROWS = [made(index, repeat) for index in range(TASKS) for repeat in range(REPEATS)]


@pytest.fixture(scope="module")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("lists")
    written = write_run(folder, ROWS, inputs=ROWS)
    options = ("--slice-by", "difficulty", "--slice-by", ODD, "--pass-threshold", "0.5")
    return profiled(written, "--run-id", "r", *options)


@pytest.fixture
def app(made_run: Profiled) -> Starlette:
    return app_of(made_run.warehouse, [route for page in PAGES for route in page.ROUTES])


def chart(app: Starlette, name: str) -> Row:
    html = get(app, "/run?run=r").text
    found = re.search(
        rf'<figure class="chart" id="{re.escape(name)}">.*?class="chart-data">(.*?)</script>',
        html,
        re.DOTALL,
    )
    assert found, name
    data: Row = json.loads(found[1])
    return data


def total(html: str) -> int:
    found = re.search(r"<p>\d+–\d+ of (\d+)</p>", html)
    assert found, html
    return int(found[1])


def test_a_bar_of_rewards_opens_the_rollouts_that_it_counts(app: Starlette) -> None:
    data = chart(app, "rewards")
    counts = data["series"][0]["y"]
    assert sum(counts) == len(ROWS)
    assert len(counts) > 10, "bars of a range, not of one value"
    opened = [total(get(app, href).text) for href in data["hrefs"]]
    assert opened == counts


def test_a_bar_of_a_slice_opens_its_tasks(app: Starlette) -> None:
    data = chart(app, "slice-difficulty")
    opened = [get(app, href).text for href in data["hrefs"]]
    assert [total(html) for html in opened] == [TASKS // 3] * 3
    indices = re.findall(r'<th scope="row" class="number"><a [^>]*>(\d+)</a>', opened[0])
    assert [int(index) % 3 for index in indices] == [1] * 4, "those that are easy"


def test_the_bars_of_slices_have_an_order(app: Starlette) -> None:
    assert chart(app, "slice-difficulty")["x"] == ["easy", "medium", "hard"]
    odd = next(iter(re.findall(r'id="(slice-[^"]*)"', get(app, "/run?run=r").text)))
    assert chart(app, odd)["x"] == ["many", "few"], "the larger one first"


def test_next_task_follows_a_table_filtered_by_a_slice(app: Starlette) -> None:
    html = get(app, f"/task?run=r&task=4&f.{DIFFICULTY}=easy").text
    assert "Task 2 of 4 in the list." in html
    assert "task=7&amp;" in html


def test_rollouts_have_columns_of_the_verifier_that_sort_and_filter(app: Starlette) -> None:
    html = get(app, "/rollouts?run=r&sort=-metric_judge_score&f.metric_is_polite=1").text
    assert total(html) == len(ROWS) // 2
    tasks_shown = re.findall(r'<td class="number"><a href="[^"]*">(\d+)</a></td>', html)
    assert tasks_shown[:3] == ["11", "11", "10"]
    assert ">judge_score<" in html


def test_columns_that_say_nothing_are_left_out(app: Starlette) -> None:
    html = get(app, "/rollouts?run=r").text
    assert "Empty output" not in html
    assert "Filter by Answer" not in html
    assert "Filter by Empty output" in get(app, "/rollouts?run=r&f.is_output_empty=yes").text
    assert "Filter by Missing" not in get(app, "/tasks?run=r").text


def test_next_rollout_follows_a_table_filtered_by_a_verifier_field(app: Starlette) -> None:
    state = "list=rollouts&f.metric_is_polite=1&sort=task_index"
    html = get(app, f"/rollout?run=r&task=1&rollout=2&{state}").text
    assert f"Rollout 4 of {len(ROWS) // 2} in the list." in html


def test_the_ground_truth_is_shown_as_json(app: Starlette) -> None:
    html = unescape(get(app, "/rollout?run=r&task=1&rollout=2").text)
    assert '"arguments": {\n      "to": "a \\"b\\""\n    }' in html
    assert '\\"to\\"' not in html


@pytest.mark.parametrize(
    ("index", "repeat", "expected"),
    [(3, 0, "passing rollout 3"), (5, 1, "failing rollout 3"), (0, 0, "better rollout 3")],
    ids=["a failure", "a pass", "all fail"],
)
def test_a_rollout_is_one_click_from_a_comparison(
    app: Starlette, index: int, repeat: int, expected: str
) -> None:
    html = get(app, f"/rollout?run=r&task={index}&rollout={repeat}").text
    found = re.search(r'href="([^"]*)#compare">Compare with ([a-z]+ rollout \d)', html)
    assert found
    assert found[2] == expected
    better, worse = (repeat, 3) if expected.startswith("failing") else (3, repeat)
    compared = get(app, unescape(found[1])).text
    assert re.findall(r'<th scope="col">([AB]): <a [^>]*>rollout (\d)', compared) == [
        ("A", str(better)),
        ("B", str(worse)),
    ]


def test_a_rollout_whose_repeats_did_alike_has_nothing_to_compare_with(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=0&rollout=3").text
    assert "Compare with" not in html


def test_a_task_offers_to_compare_its_best_and_its_worst_attempt(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=1").text
    head = html[: html.index("Prompt</h2>")]
    found = re.search(r'href="([^"]*)#compare">Compare two attempts</a>', head)
    assert found
    rewards = [row["reward"] for row in ROWS[4:8]]
    best, worst = rewards.index(max(rewards)), rewards.index(min(rewards))
    assert f"a={best}&b={worst}" in unescape(found[1])
    assert 'class="pairs"' in get(app, unescape(found[1])).text


@pytest.mark.parametrize(
    ("page", "word"),
    [("/run", "clean"), ("/run", "rerun noise"), ("/run", "undecided"), ("/tasks", "undecided")],
)
def test_a_hover_explains_the_words_of_the_field(app: Starlette, page: str, word: str) -> None:
    html = get(app, f"{page}?run=r").text
    assert re.search(rf'title="[^"]{{40,}}">{word}<', html)


def test_the_slices_of_a_selection_have_the_same_order(app: Starlette) -> None:
    app.state.viewer.selections.patience_seconds = 120
    html = get(app, "/curate?run=r").text
    slices = html[html.index('id="slices"') :]
    found = [slices.index(f" {level}</th>") for level in ("easy", "medium", "hard")]
    assert found == sorted(found)
