"""The page that compares two runs, and the process that compares them for it."""

from __future__ import annotations

import contextlib
import functools
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette

from collector.comparing.compare import ComparisonSettings, Pair, build_comparisons
from collector.comparing.wording import task_sentence
from collector.errors import FileError, UsageError
from collector.viewer.comparison_report import ComparisonReportRequest, write_comparison_report
from collector.viewer.comparisons import ComparingError, ComparisonKey, Comparisons
from collector.viewer.pages import compare, rollout, task
from collector.warehouse.scratch import open_scratch
from tests.pages import app_of, get, link
from tests.responses import response, says
from tests.support import Profiled, Row, key, profiled, write_run

AGENT = "<b>agent</b>\u202e"
TASKS = 24
REPEATS = 3
HOSTILE = "</script><script>window.pwned = 1</script>\u202e"


def asked(index: int, repeat: int, *, prompt: str = "Question", agent: str = "agent") -> Row:
    params = {"input": [{"role": "user", "content": f"{prompt} {index} {HOSTILE}"}]}
    return key(index, repeat, agent_ref={"name": agent}, responses_create_params=params)


def passes(index: int, repeat: int, shift: int) -> bool:
    return (index * 7 + repeat) % 8 < 3 + shift


def write(
    folder: Path,
    name: str,
    *,
    shift: int = 0,
    tasks: int = TASKS,
    prompt: str = "Question",
    agent: str = "agent",
) -> None:
    keys = [(index, repeat) for index in range(tasks) for repeat in range(REPEATS)]
    ask = functools.partial(asked, prompt=prompt, agent=agent)
    rollouts = [
        {
            **ask(*one),
            **response(says(f"{'right' if passes(*one, shift) else 'wrong'} {HOSTILE}")),
            "reward": float(passes(*one, shift)),
        }
        for one in keys
    ]
    run = write_run(folder, rollouts, inputs=[ask(*one) for one in keys], name=name)
    profiled(run, "--run-id", name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("comparison")
    write(folder, "before")
    write(folder, "after", shift=3, agent=AGENT)
    write(folder, "elsewhere", prompt="Riddle")
    write(folder, "small", tasks=1)
    return Profiled(folder / "before.jsonl")


@pytest.fixture(scope="module")
def app(made: Profiled) -> Starlette:
    """Pages that share their comparisons, since each takes a process."""
    return app_of(
        made.warehouse, [route for page in (compare, rollout, task) for route in page.ROUTES]
    )


def sentence(html: str) -> str:
    found = re.search(r'<p class="verdict-line">(.*?)</p>', html)
    assert found, html
    return unescape(found[1])


def any_key() -> ComparisonKey:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return ComparisonKey(Pair("before", "after"), ComparisonSettings(), (now, now))


def test_the_page_says_which_run_is_better_without_writing_to_the_warehouse(
    app: Starlette, made: Profiled
) -> None:
    before = made.warehouse.read_bytes()
    html = get(app, "/compare?a=before&b=after").text
    assert sentence(html).startswith("B is better than A: mean reward 0.750 against 0.375, +0.375")
    assert sentence(get(app, "/compare?a=after&b=before").text).startswith("B is worse than A")
    assert made.warehouse.read_bytes() == before
    assert "To store it in the marts: <code>spotter compare before after</code>" in html
    assert html.count("Show the query") == 1, "only that of the pass@k chart, which has rows"
    assert "<script>window.pwned" not in html
    assert "&lt;b&gt;agent&lt;/b&gt;" in html, "the agent is what differs"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("before", "A and B are the same run and agent, so nothing can differ."),
        ("elsewhere", "The runs share no task, so they cannot be compared."),
        (
            "small",
            "B and A are not comparable: only 4.2 % of the tasks are in both (23 tasks only in A",
        ),
    ],
)
def test_runs_that_cannot_differ_or_be_compared_get_a_sentence(
    app: Starlette, other: str, expected: str
) -> None:
    assert sentence(get(app, f"/compare?a=before&b={other}").text).startswith(expected)


def test_a_verdict_on_one_task_can_be_asked_for_and_is_open(app: Starlette) -> None:
    html = get(app, "/compare?a=before&b=small").text
    address = link(html, "Judge the common tasks anyway")
    assert address
    html = get(app, address).text
    assert sentence(html).startswith("It is open whether B is better or worse than A")
    assert "One task says nothing about other tasks" in html


def test_the_margin_and_the_kind_of_verdict_are_in_the_address(app: Starlette) -> None:
    html = get(app, "/compare?a=before&b=after&margin=0.9&fixed=yes").text
    assert "within the margin of 0.9" in sentence(html)
    chosen = re.search(r'<tr class="chosen"><th[^>]*>([\w ]+)', html)
    assert chosen
    assert chosen[1].strip() == "on these tasks again"
    for margin in ("x", "nan", "-1", "0"):
        assert get(app, f"/compare?a=before&b=after&margin={margin}").status_code == 400


def test_the_tasks_are_found_by_their_prompt_and_by_what_happened(app: Starlette) -> None:
    html = get(app, "/compare?a=before&b=after&q=question%207%20").text
    assert "1 task of A and B" in html
    html = get(app, "/compare?a=before&b=after&f.change=newly+passing").text
    shown = re.findall(r'<td class="change">([^<]+)</td>', html)
    assert shown
    assert set(shown) == {"newly passing"}
    html = get(app, "/compare?a=before&b=elsewhere&f.change=only+in+B").text
    assert f"{TASKS} tasks of A and B" in html
    assert "Riddle 3 " in html


def test_a_rollout_that_passed_stands_beside_one_that_failed(app: Starlette) -> None:
    index = next(
        index for index in range(TASKS) if {passes(index, r, 0) for r in range(REPEATS)} == {False}
    )
    html = get(app, f"/compare?a=before&b=after&pair={index}").text
    pair = html.partition('id="pair"')[2]
    assert re.search(r"A's rollout \d has the reward 0.000, B's rollout \d has 1.000", pair)
    assert "wrong" in pair
    assert "right" in pair
    assert "<script>window.pwned" not in pair
    assert get(app, "/compare?a=before&b=after&pair=999").status_code == 404
    assert get(app, "/compare?a=before&b=elsewhere&pair=0").status_code == 404


def test_the_page_uses_the_settings_of_the_comparison_in_the_warehouse(
    made: Profiled, tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    warehouse.write_bytes(made.warehouse.read_bytes())
    with contextlib.closing(open_scratch("1GB", tmp_path)) as connection:
        build_comparisons(
            connection,
            warehouse,
            [Pair("before", "after")],
            ComparisonSettings(margin=0.9),
            progress=lambda _: None,
        )
    stored = Profiled(tmp_path / "before.jsonl").table(
        "select * from run_comparisons where slice_by = 'all' and score = 'mean_reward'"
    )
    app = app_of(warehouse, compare.ROUTES)
    html = get(app, "/compare?a=before&b=after").text
    assert sentence(html) == task_sentence(stored[0], "A", "B")
    assert "equivalent" in sentence(html)
    assert "The comparison is in the marts" in html
    assert "from task_comparisons" in html, "its queries give rows"


def test_a_page_that_waits_for_a_comparison_says_so(app: Starlette) -> None:
    comparisons = app.state.viewer.comparisons
    patience, comparisons.patience_seconds = comparisons.patience_seconds, 0
    try:
        html = get(app, "/compare?a=elsewhere&b=small").text
    finally:
        comparisons.patience_seconds = patience
    assert "The runs are being compared" in html
    assert '<meta http-equiv="refresh" content="2">' in html
    assert "share no task" in sentence(get(app, "/compare?a=elsewhere&b=small").text)


def test_a_comparison_that_fails_says_why_and_is_tried_again(tmp_path: Path) -> None:
    comparisons = Comparisons(tmp_path / "none.duckdb", patience_seconds=120)
    for _ in range(2):
        with (
            pytest.raises(FileError, match=r"could not be compared: cannot open the warehouse"),
            comparisons.open_reader(any_key()),
        ):
            pass
    comparisons.close()


def test_closing_the_viewer_ends_the_comparison(made: Profiled) -> None:
    comparisons = Comparisons(made.warehouse, patience_seconds=0)
    with pytest.raises(ComparingError), comparisons.open_reader(any_key()):
        pass
    comparisons.close()
    comparisons.patience_seconds = 120
    with pytest.raises(FileError), comparisons.open_reader(any_key()):
        pass


def test_the_report_on_two_runs_is_the_page_in_one_file(
    app: Starlette, made: Profiled, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    request = ComparisonReportRequest(("before", "after"), (None, None), 2)
    assert write_comparison_report(made.warehouse, request, target)[1] == 4
    html = target.read_text(encoding="utf-8")
    assert sentence(html) == sentence(get(app, "/compare?a=before&b=after").text)
    anchors = re.findall(r'<section class="comparison" id="(pair-\d+)"', html)
    assert len(anchors) == 2
    assert all(f'href="#{anchor}"' in html for anchor in anchors)
    assert not re.findall(r'(?:href|src)="(?!#)[^"]*"', html), "nothing leads out of the file"
    assert "<script>window.pwned" not in html
    assert str(made.warehouse.parent) not in html
    headings = re.findall(r'<h3 id="pair-\d+-title">([^<]+): <span class="asked">', html)
    assert len(headings) == 2, "with the beginnings of the prompts"


def test_the_report_refuses_an_agent_that_a_run_does_not_have(
    made: Profiled, tmp_path: Path
) -> None:
    request = ComparisonReportRequest(("before", "after"), ("agent", "nobody"), 2)
    with pytest.raises(UsageError, match=r"--agent-b nobody: the agents of after are"):
        write_comparison_report(made.warehouse, request, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
