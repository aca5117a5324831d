"""The Curate page: its counts are those of `spotter curate`, and its recipe is one."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.datastructures import QueryParams

from collector.curating.recipe import Recipe
from collector.curating.recipe_files import parse_recipe, recipe_text
from collector.curating.worker import SelectionRequest, choose
from collector.viewer.background import MOST_WAITING, BackgroundWork, WaitingError
from collector.viewer.pages import curate, run, tasks
from collector.viewer.recipe_form import DEFAULTS, read_form
from collector.yaml_values import dump, parse
from tests.curated_runs import Outcomes, curated, write_pool
from tests.pages import app_of, get, link
from tests.support import Profiled, Row, run_profile, write_run

HALF = [1.0, 0.0] * 8
HOSTILE = "</code><script>window.pwned=1</script>\u202e 1e3"
POOL: dict[str, Outcomes] = {
    "mail one": HALF,
    "mail two": HALF,
    "mail three": [1.0] * 4 + [0.0] * 12,
    f"{HOSTILE.split(maxsplit=1)[0]} one": [1.0] * 12 + [0.0] * 4,
    "solved one": [1.0] * 60,
    "flat one": [1.0] * 16,
    "shaped one": [0.25, 0.5] * 8,
    "masked one": [None, 1.0, None, 0.0],
    "cut one": HALF,
}
RULES = {
    "keep.low": "0.1",
    "keep.high": "0.9",
    "undecided": "top_up",
    "drop": ["zero_variance", "masked", "truncated"],
    "per_slice.by": "category",
    "per_slice.at_most": "2",
    "order": "easy_to_hard",
    "seed": "7",
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("pool")
    made = write_pool(folder, POOL, cut="truncated")
    result = run_profile(made.rollouts, "--slice-by", "category", "--run-id", "pool", cwd=folder)
    assert result.returncode == 0, result.stderr
    return made


@pytest.fixture(scope="module")
def app(pool: Profiled) -> Starlette:
    """Pages that share their answers, since each takes a process."""
    return app_of(pool.warehouse, [*curate.ROUTES, *run.ROUTES, *tasks.ROUTES])


def address(rules: Mapping[str, object] | None = None, *, path: str = "/curate") -> str:
    return f"{path}?{urlencode({'run': 'pool', **(rules or {})}, doseq=True)}"


def recipe_on(html: str) -> str:
    found = re.search(r'<pre tabindex="0" class="recipe"><code>(.*?)</code>', html, re.DOTALL)
    assert found, html
    return unescape(re.sub("<[^>]+>", "", found[1]))


def problem_on(html: str) -> str:
    found = re.search(r'<p class="problem" role="alert">(.*?)</p>', html, re.DOTALL)
    assert found, html
    return unescape(re.sub("<[^>]+>", "", found[1]))


def counts_on(html: str) -> dict[str, int]:
    """The number of tasks by fate, as the table of reasons says."""
    rows = re.findall(r'<tr class="(keep|top_up|drop)">.*?>([\d,]+)</a></td>', html)
    totals = {"keep": 0, "top_up": 0, "drop": 0}
    for fate, count in rows:
        totals[fate] += int(count)
    return totals


def test_the_counts_follow_the_rules_and_are_those_of_the_command(
    app: Starlette, pool: Profiled
) -> None:
    before = pool.warehouse.read_bytes()
    html = get(app, address()).text
    assert counts_on(html) == {"keep": len(POOL), "top_up": 0, "drop": 0}
    html = get(app, address(RULES)).text
    assert pool.warehouse.read_bytes() == before
    assert "<script>window.pwned" not in html
    text = get(app, address(RULES, path="/curate/recipe.yml")).text
    manifest = curated("pool", text, cwd=pool.rollouts.parent)
    expected = {fate: sum(manifest["counts"][fate].values()) for fate in counts_on(html)}
    assert counts_on(html) == expected
    assert min(expected.values()) > 0, "each fate has a task"
    assert f"{manifest['counts']['chosen']} of {len(POOL)} tasks chosen" in html
    for stage, name in enumerate(("before", "after")):
        drawn = re.findall(r'<td class="number">(\d+)</td><td class="number">(\d+)</td></tr>', html)
        assert [int(pair[stage]) for pair in drawn[:10]] == manifest["histograms"][name]


def test_tasks_that_are_chosen_only_because_undecided_are_counted(app: Starlette) -> None:
    low_and_high = {"keep.low": "0.1", "keep.high": "0.9"}
    found = get(app, address(low_and_high)).text
    assert "Of 8 chosen tasks, 3 are in only because undecided" in found
    assert (
        "only because undecided" not in get(app, address(low_and_high | {"undecided": "drop"})).text
    )


def test_the_worker_says_what_the_manifest_says(pool: Profiled) -> None:
    text = "keep: {pass_rate: [0.1, 0.9]}\nundecided: drop\n"
    manifest = curated("pool", text, cwd=pool.rollouts.parent)
    answer = choose(pool.warehouse, SelectionRequest("pool", len(POOL), None, text))
    for part in ("counts", "figures", "histograms", "changes"):
        assert answer[part] == manifest[part], part
    listed = {row["reason"]: len(row["task_indices"]) for row in answer["tasks"]}
    assert listed == {**manifest["counts"]["keep"], **manifest["counts"]["drop"]}


def test_a_reason_links_to_its_tasks(app: Starlette, pool: Profiled) -> None:
    html = get(app, address({"drop": ["masked"]})).text
    row = re.search(r'<tr class="drop">.*?href="([^"]*)"', html)
    assert row
    query = parse_qs(urlsplit(unescape(row[1])).query)["q"][0]
    assert [one["is_masked"] for one in pool.table(query)] == [True]


def test_the_recipe_is_shown_and_sent_and_means_the_fields(app: Starlette) -> None:
    wanted = {
        "keep": {"pass_rate": [0.1, 0.9]},
        "undecided": "top_up",
        "drop": ["zero_variance", "masked", "truncated"],
        "per_slice": {"by": "category", "at_most": 2},
        "order": "easy_to_hard",
        "seed": 7,
    }
    sent = get(app, address(RULES, path="/curate/recipe.yml"))
    assert sent.headers["content-disposition"] == 'attachment; filename="recipe.yml"'
    assert parse_recipe(sent.text, shown="sent") == Recipe.model_validate(wanted)
    html = get(app, address(RULES)).text
    assert recipe_on(html) == sent.text
    assert "spotter curate pool --recipe recipe.yml" in html
    assert link(html, "Download recipe.yml") == address(RULES, path="/curate/recipe.yml")


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({}, {}),
        ({"keep.low": "0", "keep.high": "1.0"}, {}),
        ({"keep.high": ".5"}, {"keep": {"pass_rate": [0, 0.5]}}),
        ({"keep.decided_on": "point"}, {"keep": {"pass_rate": [0, 1], "decided_on": "point"}}),
        ({"target": "uniform"}, {"target": {"distribution": "uniform"}}),
        (
            {"target": "gaussian", "target.mean": "0.4"},
            {"target": {"distribution": "gaussian", "mean": 0.4, "std": 0.2}},
        ),
        (
            {"target": "weights", "target.weights.solved": "0"},
            {"target": {"weights": {"learnable": 1, "solved": 0, "unsolved": 1, "undecided": 1}}},
        ),
        ({"target.mean": "7", "curriculum.steps": "x"}, {}),
        ({"order": "curriculum"}, {"order": "curriculum"}),
        (
            {"order": "curriculum", "curriculum.steps": "9"},
            {"order": "curriculum", "curriculum": {"steps": 9}},
        ),
        ({"per_slice.by": "category"}, {}),
        ({"outcome": "reward", "at_most": "12"}, {"outcome": "reward", "at_most": 12}),
        ({"exclude": "/etc/passwd"}, {}),
    ],
)
def test_fields_mean_a_recipe(fields: dict[str, str], content: Row) -> None:
    form = read_form(QueryParams(fields))
    assert form.problem == ""
    assert form.recipe == Recipe.model_validate(content)
    assert parse_recipe(form.text, shown="shown") == form.recipe


def test_the_fields_begin_with_the_defaults_of_a_recipe() -> None:
    spelled_out = read_form(QueryParams({**DEFAULTS, "order": "curriculum"}))
    assert spelled_out.recipe == Recipe(order="curriculum")
    gaussian = read_form(QueryParams({"target": "gaussian"})).recipe
    bare = Recipe.model_validate({"target": {"distribution": "gaussian"}})
    assert gaussian
    assert gaussian.declaration() == bare.declaration()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"keep.low": "2"}, "keep.pass_rate.0: the value must be less than or equal to 1"),
        ({"keep.low": "a lot"}, "keep.pass_rate.0: the value must be a valid number"),
        ({"keep.low": "nan"}, "keep.pass_rate.0: the value must be"),
        ({"keep.low": "0.9", "keep.high": "0.1"}, "the lower bound is above the upper one"),
        ({"undecided": "kepe"}, "undecided: unknown; did you mean keep?"),
        ({"drop": ["masked", "zero-variance"]}, "drop.1: unknown; did you mean zero_variance?"),
        ({"order": HOSTILE}, "order: unknown (there are:"),
        ({"at_most": "0"}, "at_most: the value must be greater than or equal to 1"),
        ({"at_most": "9" * 5000}, "at_most: the value must be"),
        ({"seed": "1.5"}, "seed: the value must be a valid integer"),
        ({"target": "normal"}, "target.distribution: unknown"),
        ({"target": "uniform", "order": "curriculum"}, "a curriculum has its own distribution"),
        ({"per_slice.by": "catgory", "per_slice.at_most": "1"}, "is not sliced by catgory"),
        ({"agent": "nobody"}, "--agent"),
    ],
)
def test_a_bad_value_gets_the_message_of_the_recipe(
    app: Starlette, rules: dict[str, object], message: str
) -> None:
    answer = get(app, address(rules))
    assert answer.status_code == 400
    assert message in problem_on(answer.text)
    assert "<script>window.pwned" not in answer.text
    assert "tasks chosen" not in answer.text


def test_a_bad_recipe_is_not_sent(app: Starlette) -> None:
    answer = get(app, address({"seed": "x"}, path="/curate/recipe.yml"))
    assert answer.status_code == 400
    assert "recipe.yml:1: seed:" in answer.text


def test_a_page_that_waits_for_the_counts_says_so(app: Starlette) -> None:
    selections = app.state.viewer.selections
    patience, selections.patience_seconds = selections.patience_seconds, 0
    try:
        html = get(app, address({"seed": "99"})).text
    finally:
        selections.patience_seconds = patience
    assert 'id="selection" data-waiting' in html
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in html
    assert f"{len(POOL)} of {len(POOL)} tasks chosen" in get(app, address({"seed": "99"})).text


def test_work_that_many_pages_ask_for_at_once_does_not_pile_up() -> None:
    is_free = threading.Event()
    done: list[int] = []

    def work(key: int) -> int:
        assert is_free.wait(60)
        done.append(key)
        return key

    background = BackgroundWork[int, int](work, "the work failed")
    for key in range(3 * MOST_WAITING):
        with pytest.raises(WaitingError):
            background.result(key, 0)
    is_free.set()
    assert [background.result(key, 60) for key in range(MOST_WAITING)] == [*range(MOST_WAITING)]
    assert sorted(done) == [*range(MOST_WAITING)]
    assert background.result(99, 60) == 99


def test_a_recipe_that_leaves_nothing_says_so(app: Starlette) -> None:
    html = get(app, address({"keep.high": "0", "undecided": "drop"})).text
    assert "No task is left" in html


def test_a_task_of_several_agents_counts_for_the_chosen_one(tmp_path: Path) -> None:
    keys = [(agent, index) for agent in ("first", "second") for index in range(2)]
    rows = [
        {
            "_ng_task_index": 0,
            "_ng_rollout_index": 2 * (agent == "second") + index,
            "agent_ref": {"name": agent},
            "reward": float(agent == "second"),
        }
        for agent, index in keys
    ]
    inputs = [{name: row[name] for name in row if name != "reward"} for row in rows]
    made = write_run(tmp_path, rows, inputs=inputs, name="fan")
    assert run_profile(made.rollouts, "--run-id", "pool", cwd=tmp_path).returncode == 0
    app = app_of(made.warehouse, curate.ROUTES)
    html = get(app, address({"keep.low": "0.5", "keep.decided_on": "point"})).text
    assert counts_on(html) == {"keep": 0, "top_up": 0, "drop": 1}, "the first agent fails"
    rules = {"keep.low": "0.5", "keep.decided_on": "point", "agent": "second"}
    html = get(app, address(rules)).text
    assert counts_on(html) == {"keep": 1, "top_up": 0, "drop": 0}
    assert "--agent second" in html


def test_the_pages_of_a_run_link_to_it(app: Starlette) -> None:
    for path in ("/run", "/tasks"):
        html = get(app, address(path=path)).text
        assert link(html, "Curate: choose what to train on") == "/curate?run=pool"


@pytest.mark.parametrize(
    "text", ["1e3", "on", "2024-01-01", "null", "0x1f", "1_000", ".5", "a: b", "# x", "", HOSTILE]
)
def test_a_text_stays_a_text_in_yaml(text: str) -> None:
    content = {"per_slice": {"by": text, "shares": {text: 0.5}}}
    assert parse(dump(content)) == content
    if text:
        recipe = Recipe.model_validate(content)
        assert parse_recipe(recipe_text(recipe), shown="text") == recipe
