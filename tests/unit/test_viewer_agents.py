"""Pages of a run in which two agents, one named like the other, try the same tasks."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette

from collector.viewer.marts import run_charts
from collector.viewer.pages import compare, rollout, rollouts, run, task, tasks
from collector.viewer.report import ReportRequest, write_report
from collector.viewer.text import completion
from tests.pages import app_of, get, link
from tests.responses import response, says
from tests.support import Profiled, Row, key, profiled, write_run

AGENTS = ("agent", "agent_b")
TASKS = 4
REPEATS = 15
UNSCORED = 3  # a task half of whose rollouts have no reward
PAGES = (compare, rollout, rollouts, run, task, tasks)


def asked(index: int, repeat: int) -> Row:
    prompt = f"Question {min(index, 2)}"  # the last two are the same task
    name = AGENTS[repeat >= REPEATS]
    params = {"input": [{"role": "user", "content": prompt}]}
    return key(index, repeat, agent_ref={"name": name}, responses_create_params=params)


def answered(index: int, repeat: int) -> Row:
    reward = None if index == UNSCORED and repeat % 2 else float(repeat % 3 == 0)
    return {**asked(index, repeat), **response(says("Done")), "reward": reward}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    keys = [(index, repeat) for index in range(TASKS) for repeat in range(2 * REPEATS)]
    lines = [json.dumps(answered(*one)) for one in keys]
    lines[0] = lines[0].replace('"reward": 1.0', '"reward": NaN')
    assert "NaN" in lines[0]
    folder = tmp_path_factory.mktemp("agents")
    made = write_run(
        folder, [line.encode() for line in lines], inputs=[asked(*one) for one in keys]
    )
    return profiled(made, "--run-id", "r")


@pytest.fixture
def app(made: Profiled) -> Starlette:
    return app_of(made.warehouse, [route for page in PAGES for route in page.ROUTES])


def listed(html: str) -> int:
    found = re.search(r"<p>\d+–\d+ of (\d+)</p>", html)
    assert found, html
    return int(found[1])


def test_what_a_count_links_to_are_as_many(app: Starlette) -> None:
    html = get(app, "/run?run=r&agent=agent").text
    found = re.findall(
        r'<a href="([^"]*f\.band=[^"]*)"><abbr[^>]*>\w+</abbr></a></th><td class="number">(\d+)',
        html,
    )
    assert sum(int(count) for _, count in found) == TASKS
    for address, count in found:
        assert listed(get(app, unescape(address)).text) == int(count)


def test_an_agent_is_chosen_from_a_list(app: Starlette) -> None:
    html = get(app, "/tasks?run=r&f.agent_name=agent").text
    assert '<option value="agent" selected>agent</option>' in html
    assert '<option value="agent_b">agent_b</option>' in html
    assert listed(html) == TASKS


def test_the_next_task_is_another_task(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=1").text
    assert link(html, "Next task") == "/task?run=r&task=2"
    assert link(html, "Previous task") == "/task?run=r&task=0"
    assert f"Task 2 of {TASKS} in the list" in html
    html = get(app, f"/rollout?run=r&task=1&rollout={REPEATS}").text
    assert link(html, "Next task") == f"/rollout?run=r&task=2&rollout={REPEATS}"


def test_attempts_without_a_reward_are_attempts_too(app: Starlette) -> None:
    html = get(app, f"/task?run=r&task={UNSCORED}&attempts=99").text
    assert f"{2 * REPEATS} attempts" in html
    assert link(html, f"Rollout {2 * REPEATS - 1}")
    html = get(app, f"/task?run=r&task={UNSCORED}&agent=agent").text
    assert f"{REPEATS} attempts" in html


def test_a_reward_that_is_not_finite_is_the_same_as_none(app: Starlette) -> None:
    assert "The reward in the file" not in get(app, "/rollout?run=r&task=0&rollout=0").text


def test_a_task_that_is_there_twice_is_compared_once_with_its_likeness(app: Starlette) -> None:
    html = get(app, "/compare?a=r&b=r&agent_a=agent&agent_b=agent_b").text
    assert f"{TASKS} tasks of A and B" in html


def test_choosing_another_agent_keeps_the_table_as_it_is(app: Starlette) -> None:
    html = get(app, "/compare?a=r&b=r&sort=difference&f.difference=%3E0").text
    form = html.partition('<form class="agents"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="sort" value="difference">' in form
    assert '<input type="hidden" name="f.difference" value="&gt;0">' in form


def test_a_report_on_an_agent_is_on_that_agent(made: Profiled, tmp_path: Path) -> None:
    wanted = ReportRequest("r", "agent_b", 5)
    assert write_report(made.warehouse, wanted, tmp_path / "report.html") == ("r", 5)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    rollouts = [int(index) for index in re.findall(r'id="rollout-\d+-(\d+)"', html)]
    assert len(rollouts) == 5
    assert min(rollouts) >= REPEATS
    assert set(re.findall(r'<td class="agent" title="(\w+)"', html)) == {"agent_b"}


@pytest.mark.parametrize(
    ("low", "high", "label"),
    [
        (0.0, 0.05, "0 to 0.05"),
        (1000.0, 1000.05, "1000 to 1000.05"),
        (1000.05, 1000.1, "1000.05 to 1000.1"),
        (-0.5, -0.25, "-0.5 to -0.25"),
        (0.0, 2e6, "0 to 2e+06"),
    ],
)
def test_the_bounds_of_a_bin_can_be_told_apart(low: float, high: float, label: str) -> None:
    row = {"bin_index": 0, "bin_low": low, "bin_high": high, "is_single_value": False}
    assert run_charts._bin_label(row, 0, row) == label


def test_the_rollouts_of_a_filtered_table_are_gone_through_one_by_one(app: Starlette) -> None:
    table = "/rollouts?run=r&sort=-rollout_index&f.agent_name=agent&f.task_index=1"
    html = get(app, table).text
    addresses = re.findall(r'<a href="(/rollout\?[^"]*)" aria-label', html)
    assert len(addresses) == REPEATS
    html = get(app, unescape(addresses[1])).text
    assert f"Rollout 2 of {REPEATS} in the list" in html
    assert link(html, "Previous in the list") == unescape(addresses[0])
    assert link(html, "Next in the list") == unescape(addresses[2])
    above = link(html, "Up to the rollouts")
    assert above
    assert listed(get(app, above).text) == REPEATS
    html = get(app, "/rollout?run=r&task=2&rollout=0&list=rollouts&f.task_index=1").text
    assert link(html, "Next rollout"), "one that the table does not have stands for itself"


def test_the_columns_of_a_table_say_what_they_mean(app: Starlette) -> None:
    html = get(app, "/tasks?run=r").text
    meanings = dict(re.findall(r'<a href="[^"]*sort=-?(\w+)[^"]*" title="([^"]+)">', html))
    assert {"band", "learnability", "pass_ratio", "output_tokens_mean"} <= set(meanings)


def test_an_address_without_a_run_says_so(app: Starlette) -> None:
    assert "The address does not name a run" in get(app, "/run").text


@pytest.mark.parametrize(
    ("value", "text"), [(100.0, "100.0 %"), (99.99, "99.9 %"), (41.66, "41.7 %"), (None, "–")]
)
def test_only_what_is_whole_is_called_so(value: float | None, text: str) -> None:
    assert completion(value) == text
