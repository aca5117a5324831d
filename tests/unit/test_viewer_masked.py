"""Pages of a run with masked rollouts: what measures nothing is shown, and told why."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from markupsafe import escape
from starlette.applications import Starlette

from collector.viewer.marts import run_lists
from collector.viewer.marts.lists import TASK_LISTING
from collector.viewer.pages import compare, rollout, rollouts, run, runs, task, tasks
from collector.viewer.report import ReportRequest, write_report
from collector.viewer.text import cost, duration
from tests import masked_runs as made_of
from tests.pages import app_of, get, link
from tests.support import Profiled

PAGES = (compare, rollout, rollouts, run, runs, task, tasks)
WRITER = quote(made_of.WRITER)
KIND = escape(made_of.HOSTILE_KIND)
COMPLETED = len(made_of.keys()) - len(made_of.MISSING)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return made_of.profile_masked_run(tmp_path_factory.mktemp("masked"))


@pytest.fixture
def app(made: Profiled) -> Starlette:
    return app_of(made.warehouse, [route for page in PAGES for route in page.ROUTES])


def words(html: str) -> str:
    """The text of a page, as somebody reads it."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def listed(html: str) -> int:
    found = re.search(r"<p>\d+–\d+ of (\d+)</p>", html)
    assert found, html
    return int(found[1])


def rows(html: str) -> list[str]:
    return re.findall(r"<tr>.*?</tr>", html.partition("<tbody>")[2].partition("</tbody>")[0], re.S)


def test_a_run_says_how_many_rollouts_are_masked_and_why(app: Starlette) -> None:
    html = get(app, "/run?run=r").text
    text = words(html)
    assert (
        f"{made_of.MASKED} of {COMPLETED} rollouts masked : 6 session_lost,"
        f" 2 provider_unavailable, 1 {made_of.HOSTILE_KIND}, 1 (unknown), 1 judge_failed."
    ) in text
    assert "3 tasks have only masked rollouts" in text
    address = link(html, f"{made_of.MASKED} of {COMPLETED} rollouts masked")
    assert address
    assert listed(get(app, address).text) == made_of.MASKED


def test_each_kind_leads_to_its_rollouts(app: Starlette) -> None:
    html = get(app, f"/run?run=r&agent={WRITER}").text
    found = re.findall(
        r'<a href="([^"]*f\.failure_kind=[^"]*)">[^<]*</a></th><td class="number">(\d+)', html
    )
    assert [int(count) for _, count in found] == [3, 1]
    for address, count in found:
        assert listed(get(app, unescape(address)).text) == int(count)


def test_the_table_of_runs_counts_masked_rollouts_of_each_agent(app: Starlette) -> None:
    solver, writer = rows(get(app, "/?sort=agent_name").text)
    assert "7 3 session_lost, 2 provider_unavailable, 2 other kinds" in words(solver)
    assert "4 3 session_lost" in words(writer)
    assert len(rows(get(app, "/?f.masked_rollout_count=%3E5").text)) == 1


def test_a_task_has_one_row_for_each_of_its_agents(app: Starlette) -> None:
    html = get(app, "/tasks?run=r").text
    assert listed(html) == 2 * (made_of.TASKS - 1) - 1
    assert len(rows(html)) == listed(html)
    assert listed(get(app, "/tasks?run=r&f.task_index=3").text) == 2
    assert listed(get(app, "/tasks?run=r&f.masked_rollout_count=3").text) == 3


@pytest.mark.parametrize("sort", ["prompt", "-prompt", "masked_rollout_count", "-pass_ratio"])
def test_pages_of_tasks_neither_repeat_nor_leave_out_any(
    sort: str, app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lists, "TASK_LISTING", replace(TASK_LISTING, page_rows=4))
    found: list[tuple[str, str]] = []
    for page in range(1, 5):
        html = get(app, f"/tasks?run=r&sort={sort}&page={page}&q=what").text
        found += re.findall(
            r'task=(\d+)[^"]*">\d+</a></th>.*?class="agent" title="([^"]*)"', html, re.S
        )
    assert len(found) == len(set(found)) == 2 * (made_of.TASKS - 1) - 1


def test_a_search_in_prompts_finds_the_task_of_every_agent(app: Starlette) -> None:
    assert listed(get(app, "/tasks?run=r&q=4+%2B+4").text) == 2
    assert listed(get(app, "/tasks?run=r&f.prompt=5+%2B").text) == 1


def test_cells_of_masked_rollouts_are_told_apart(app: Starlette) -> None:
    html = get(app, "/tasks?run=r&f.task_index=3").text
    assert len(re.findall(r'class="cell masked"', html)) == 1
    assert f"rollout 4: masked, {KIND}" in html


def test_a_task_shows_all_its_agents_or_the_chosen_one(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=3").text
    assert "6 attempts" in html
    assert link(html, "solver") == "/task?run=r&task=3&agent=solver"
    html = get(app, f"/task?run=r&task=3&agent={WRITER}").text
    assert "3 attempts" in html
    assert link(html, "Next task") == f"/task?run=r&task=4&agent={WRITER.replace('%20', '+')}"
    html = get(app, f"/task?run=r&task={made_of.ALONE}&agent={WRITER}").text
    assert "3 attempts" in html, "the task was not sent to that agent: everybody's are shown"


def test_a_task_marks_masked_attempts_with_kind_reason_and_what_was_written(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=1&agent=solver").text
    card = html.partition('<li class="card masked">')[2].partition("</li>")[0]
    assert "Reward 1.0 not counted Masked judge_failed Reason the judge answered 503" in words(card)
    assert "rollout 0, masked</option>" in html


def test_a_task_of_which_nothing_is_measured_says_so(app: Starlette) -> None:
    html = get(app, "/task?run=r&task=2").text
    assert "All rollouts of solver are masked, so there are no scores." in words(html)
    assert "All rollouts of writer" not in words(html)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ("f.is_masked=yes", made_of.MASKED),
        ("f.is_masked=no", COMPLETED - made_of.MASKED),
        ("f.failure_kind=(unknown)", 1),
        ("f.failure_reason=SANDBOX", 2),
        ("f.reward=none", made_of.MASKED),
        ("f.gym_verdict=unhealthy", 7),
    ],
)
def test_rollouts_are_filtered_by_their_mask(filters: str, count: int, app: Starlette) -> None:
    assert listed(get(app, f"/rollouts?run=r&{filters}").text) == count


def test_going_through_masked_rollouts_one_by_one(app: Starlette) -> None:
    html = get(app, "/rollouts?run=r&f.is_masked=yes").text
    addresses = re.findall(r'<a href="(/rollout\?[^"]*)" aria-label', html)
    html = get(app, unescape(addresses[0])).text
    assert f"Rollout 1 of {made_of.MASKED} in the list" in html
    assert link(html, "Next in the list") == unescape(addresses[1])


def test_a_masked_rollout_says_so_first(app: Starlette) -> None:
    html = get(app, "/rollout?run=r&task=3&rollout=4").text
    assert f'Masked: <b class="kind">{KIND}</b>' in html
    assert "&lt;script&gt;window.pwned=1&lt;/script&gt;" in html
    assert "<script>window.pwned" not in html
    assert "Reward 1.0 not counted" in words(html)
    assert "The reward in the file" not in html
    assert "Masked: (unknown)" in words(get(app, "/rollout?run=r&task=2&rollout=2").text)


def test_a_rollout_shows_what_it_took_and_the_verdict_of_nemo_gym(app: Starlette) -> None:
    text = words(get(app, "/rollout?run=r&task=0&rollout=0").text)
    assert "Turns 2 Tool calls 1 Latency 850 ms Cached tokens 40 Reasoning tokens 7" in text
    assert "Cost 0.000270 Model tiny" in text
    assert "NeMo Gym's health check: unhealthy (token_coverage)" in text


def test_a_run_shows_what_rollouts_took_and_the_verdicts(app: Starlette) -> None:
    text = words(get(app, "/run?run=r&agent=solver").text)
    assert "Per rollout: Turns 2.4 Tool calls 1.6 Latency 1.8 s" in text
    assert "Cost 0.000280 Cost per pass 0.000436 Total cost 0.003927" in text
    assert "NeMo Gym's health check says: 10 healthy , 4 unhealthy ." in text
    assert "10 rollouts have no reward (3 missing, 7 masked, 0 unscored)" in text


def test_a_comparison_says_what_is_masked_on_each_side(app: Starlette) -> None:
    html = get(app, f"/compare?a=r&b=r&agent_a=solver&agent_b={WRITER}").text
    text = words(html)
    assert "7 tasks of A and B" in text, "one of them only in A"
    assert len(rows(html.partition('id="tasks"')[2])) == 7
    assert "7 masked : 3 session_lost, 2 provider_unavailable, 1 (unknown), 1 judge_failed" in text
    assert f"4 masked : 3 session_lost, 1 {made_of.HOSTILE_KIND}" in text


def test_a_report_says_what_is_masked(made: Profiled, tmp_path: Path) -> None:
    wanted = ReportRequest("r", None, 2, ["3:4"])
    write_report(made.warehouse, wanted, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{made_of.MASKED} of {COMPLETED} rollouts masked: 6 session_lost" in words(html)
    assert f"Masked: {made_of.HOSTILE_KIND} ." in words(html)
    assert "<script>window.pwned" not in html


def test_a_report_has_masked_rollouts_after_all_that_measure(
    made: Profiled, tmp_path: Path
) -> None:
    measured = COMPLETED - made_of.MASKED
    count = write_report(
        made.warehouse, ReportRequest("r", None, measured + 2), tmp_path / "report.html"
    )
    assert count == ("r", measured + 2)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    verdicts = re.findall(r'<span class="verdict">([\w ]+)</span>', html)
    assert verdicts.index("not counted") == measured
    assert verdicts.count("not counted") == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "0 ms"), (850.0, "850 ms"), (4250.0, "4.2 s"), (300_000.0, "5.0 min"), (None, "–")],
)
def test_times_are_written_for_reading(value: float | None, text: str) -> None:
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1,234.50"), (1.5, "1.5000"), (0.00027, "0.000270"), (0.0, "0.000000"), (None, "–")],
)
def test_amounts_of_money_are_written_for_reading(value: float | None, text: str) -> None:
    assert cost(value) == text
