"""The viewer in a real browser: from the runs to a rollout, tables, keys, the SQL page."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import (
    REPEATS,
    TASKS,
    Visitor,
    VisitorFactory,
    World,
    column,
    is_drawn,
    reward_of,
)
from tests.sandboxes import ask_all
from tests.viewers import Watched

PASSES = {task: sum(reward_of(task, i) == 1 for i in range(REPEATS)) for task in range(TASKS)}


def tasks_shown(page: Page) -> list[int]:
    return [int(text) for text in column(page, "Task")]


def place_of(page: Page) -> tuple[str, str]:
    """The task and the rollout that the address names."""
    found = re.search(r"task=(\d+)(?:.*?rollout=(\d+))?", page.url)
    assert found, page.url
    return found[1], found[2]


# --- three clicks --------------------------------------------------------------------------------


def test_three_clicks_lead_from_the_runs_to_a_failed_rollout(
    visitor: Visitor, world: World
) -> None:
    page = visitor.page
    visitor.open("/")
    page.get_by_role("link", name=world.a).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(world.a)
    page.get_by_role("link", name=f"All {TASKS} tasks").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Tasks of {world.a}")
    page.locator(".strip a.cell.fail").first.click()
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    assert place_of(page)[0] == "0"
    expect(page.locator(".figures")).to_contain_text("fail")


def test_a_task_leads_to_its_rollouts(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    page.get_by_role("link", name="17", exact=True).click()
    expect(page.get_by_text("Question 17 of the pangolin").first).to_be_visible()
    page.get_by_role("link", name="Rollout 2").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Task 17, rollout 2")


def test_a_point_of_the_scatter_opens_its_rollout(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/run", run=world.a)
    canvas = page.locator("#lengths canvas")
    canvas.scroll_into_view_if_needed()
    at = page.evaluate(
        """() => {
            const canvas = document.querySelector("#lengths canvas");
            const data = JSON.parse(document.querySelector("#lengths .chart-data").textContent);
            const points = Chart.getChart(canvas).getDatasetMeta(0).data;
            const alone = points.findIndex((p, i) => points.every((q, j) =>
                i === j || Math.hypot(p.x - q.x, p.y - q.y) > 0.5));
            const place = alone >= 0 ? alone : 0;
            return {x: points[place].x, y: points[place].y, href: data.hrefs[place]};
        }"""
    )
    canvas.click(position={"x": at["x"], "y": at["y"]})
    page.wait_for_url("**/rollout?**")
    assert page.url.endswith(at["href"])
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()


def test_a_chart_is_read_and_opened_by_keys(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/run", run=world.a)
    canvas = page.locator("#pass-rates canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pass-rates [aria-live]")).to_contain_text("task")
    page.keyboard.press("Enter")
    page.wait_for_url("**/task?**")


def test_charts_are_drawn(visitor: Visitor, world: World) -> None:
    visitor.open("/run", run=world.a)
    names = ("rewards", "pass-rates", "attempts", "lengths", "slice-category")
    drawn = {name: is_drawn(visitor.page, f"#{name} canvas") for name in names}
    assert drawn == dict.fromkeys(names, True)


@pytest.mark.parametrize(
    "names",
    [
        ["short", "a_rather_long_category_name"],
        [f"workplace_assistant_c{end}" for end in ("alendar", "ustomers", "ustomer_relations")],
        [f"workplace_assistant_{domain}_in_english_and_german" for domain in ("mail", "chat")],
        [f"{'the same beginning ' * 3}{end}" for end in ("a", "b")],
    ],
)
def test_two_categories_never_have_the_same_label(
    visitor: Visitor, world: World, names: list[str]
) -> None:
    visitor.open("/run", run=world.a)
    labels = visitor.page.evaluate(
        """names => {
            const figure = document.querySelector("#slice-category");
            const data = JSON.parse(figure.querySelector(".chart-data").textContent);
            const { options } = spotterCharts.config({ ...data, x: names }, figure);
            const axis = options.indexAxis;
            return names.map((_, place) => options.scales[axis].ticks.callback(place));
        }""",
        names,
    )
    assert len(set(labels)) == len(names)
    assert max(map(len, labels)) <= 22


def test_the_rollout_reads_as_a_conversation(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/rollout", run=world.a, task=5, rollout=1)
    talk = page.locator(".transcript")
    expect(talk.get_by_text("You add numbers with the tool")).to_be_visible()
    image = talk.get_by_role("img")
    assert image.evaluate("image => image.complete && image.naturalWidth") == 48
    thought = talk.locator("article.reasoning details")
    expect(thought).not_to_have_attribute("open", "")
    thought.locator("summary").click()
    expect(talk.get_by_text("I have to add 5 and 6 in attempt 1.").last).to_be_visible()
    call = talk.get_by_role("article", name="call of add_numbers")
    expect(call).to_contain_text("second line 1")
    expect(call.get_by_role("group", name="result of add_numbers")).to_be_visible()
    page.get_by_text("Show the raw JSON").click()
    raw = page.locator("details.raw pre")
    expect(raw).to_contain_text('"resp_5_1"')
    assert json.loads(raw.text_content() or "")["reward"] == reward_of(5, 1)


def test_a_long_text_is_folded(visitor: Visitor, world: World) -> None:
    visitor.open("/rollout", run=world.a, task=6, rollout=0)
    rest = visitor.page.locator(".transcript pre.rest")
    expect(rest).to_be_hidden()
    visitor.page.get_by_text(re.compile(r"Show [\d,]+ more characters")).click()
    expect(rest).to_be_visible()


# --- tables --------------------------------------------------------------------------------------


def test_a_click_on_a_column_sorts_and_another_turns_it(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    head = page.get_by_role("columnheader", name="Mean reward")
    head.get_by_role("link").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    up = [float(text) for text in column(page, "Mean reward")]
    assert up == sorted(up)
    assert up[0] == 0
    head.get_by_role("link").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    down = [float(text) for text in column(page, "Mean reward")]
    assert down == sorted(down, reverse=True)
    assert down[0] == 1


FILTERS: dict[str, tuple[str, str, Callable[[int], bool]]] = {
    "a number": ("Pass rate", ">0.6", lambda task: PASSES[task] >= 3),
    "a range": ("Pass rate", "0.2..0.6", lambda task: PASSES[task] in (1, 2)),
    "a text": ("Prompt", "PANGOLIN", lambda task: task in (17, 101)),
}


@pytest.mark.parametrize(("label", "wanted", "is_kept"), FILTERS.values(), ids=FILTERS)
def test_a_column_is_filtered(
    label: str, wanted: str, is_kept: Callable[[int], bool], visitor: Visitor, world: World
) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    field = page.get_by_label(f"Filter by {label}")
    field.fill(wanted)
    field.press("Enter")
    page.wait_for_url("**f.*")
    kept = [task for task in range(TASKS) if is_kept(task)]
    assert tasks_shown(page) == kept[:50]
    expect(page.get_by_label("Pages")).to_contain_text(f"of {len(kept)}")


def test_a_choice_filters_at_once(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    page.get_by_label("Filter by Band").select_option("learnable")
    page.wait_for_url("**f.band=learnable**")
    assert set(column(page, "Band")) == {"learnable"}


def test_a_filter_that_cannot_be_read_says_so(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    page.get_by_label("Filter by Spread").fill("a lot")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("alert")).to_contain_text("'a lot' is not a filter")


def test_the_search_looks_into_the_prompts(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    page.get_by_role("searchbox").fill("pangolin")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=pangolin**")
    assert tasks_shown(page) == [17, 101]
    page.get_by_role("link", name="Clear").click()
    expect(page.get_by_label("Pages")).to_contain_text(f"of {TASKS}")


def test_long_tables_have_pages(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    seen = tasks_shown(page)
    while page.get_by_role("link", name="Next page").count():
        page.get_by_role("link", name="Next page").click()
        expect(page.get_by_label("Pages")).to_contain_text(f"{len(seen) + 1}–")
        seen += tasks_shown(page)
    assert seen == list(range(TASKS))
    page.get_by_role("link", name="Previous page").click()
    expect(page.get_by_label("Pages")).to_contain_text("51–100")


def test_a_link_holds_the_whole_table(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a)
    page.get_by_label("Filter by Pass rate").fill("<1")
    page.keyboard.press("Enter")
    page.wait_for_url("**f.pass_ratio**")
    page.get_by_role("columnheader", name="Output tokens").get_by_role("link").click()
    page.wait_for_url("**sort=output_tokens_mean**")
    page.get_by_role("link", name="Next page").click()
    page.wait_for_url("**page=2**")
    mine = tasks_shown(page)
    other = visitor.context.new_page()
    other.goto(page.url)
    assert tasks_shown(other) == mine
    assert mine != sorted(mine)
    expect(other.get_by_label("Filter by Pass rate")).to_have_value("<1")


def test_next_task_follows_the_filtered_and_sorted_table(visitor: Visitor, world: World) -> None:
    page = visitor.page
    filtered = {"sort": "-output_tokens_mean", "f.pass_ratio": "0.2..0.6"}
    visitor.open("/tasks", filtered, run=world.a)
    order = tasks_shown(page)
    page.get_by_role("link", name=str(order[3]), exact=True).click()
    page.get_by_role("link", name="Rollout 1").first.click()
    page.get_by_role("link", name="Next task").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Task {order[4]}, ")
    page.get_by_role("link", name="Previous task").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Task {order[3]}, ")
    page.get_by_role("link", name="Previous task").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Task {order[2]}, ")
    page.get_by_label("Where you are").get_by_role("link", name="Tasks").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Tasks of {world.a}")
    assert tasks_shown(page) == order


def test_the_rollouts_with_a_finding_are_one_click_away(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/run", run=world.a)
    page.get_by_role("row", name=re.compile("truncated", re.IGNORECASE)).get_by_role("link").click()
    expect(page.get_by_label("Filter by Truncated")).to_have_value("yes")
    assert tasks_shown(page) == [4, 11]


# --- keys ----------------------------------------------------------------------------------------


def test_keys_go_through_the_rollouts_and_tasks(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/rollout", run=world.a, task=7, rollout=1)
    steps = {
        "n": ("7", "2"), "ArrowRight": ("7", "3"), "p": ("7", "2"), "ArrowLeft": ("7", "1"),
        "]": ("8", "0"), "[": ("7", "0"),
    }  # fmt: skip
    for pressed, (task, rollout) in steps.items():
        page.wait_for_load_state("domcontentloaded")
        page.keyboard.press(pressed)
        page.wait_for_url(f"**task={task}&rollout={rollout}*")
    for heading in ("Task 7", f"Tasks of {world.a}", world.a, "Runs"):
        page.wait_for_load_state("domcontentloaded")  # until then nothing listens to keys
        page.keyboard.press("u")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def test_a_key_leads_to_the_search_where_keys_are_letters(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/tasks", run=world.a, page=2)
    before = page.url
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    page.keyboard.type("nupe?/[]")
    page.keyboard.press("ArrowLeft")
    expect(search).to_have_value("nupe?/[]")
    expect(page.locator("#keys")).to_be_hidden()
    assert page.url == before


def test_a_key_opens_and_closes_the_folded_parts(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/rollout", run=world.a, task=6, rollout=0)
    folds = page.locator("details.fold")
    count = folds.count()
    assert count > 1
    page.keyboard.press("e")
    expect(page.locator("details.fold[open]")).to_have_count(count)
    page.keyboard.press("e")
    expect(page.locator("details.fold[open]")).to_have_count(0)


def test_a_key_shows_the_keys(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/rollout", run=world.a, task=6, rollout=0)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    page.keyboard.press("n")
    assert place_of(page) == ("6", "0")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


# --- SQL -----------------------------------------------------------------------------------------


def test_a_query_is_run_by_button_and_by_keys(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open("/sql")
    field = page.get_by_label("Query")
    field.fill("select count(*) as n from rollout_infos")
    page.get_by_role("button", name="Run").click()
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_role("cell")).to_have_text(str(2 * TASKS * REPEATS + 9))
    page.wait_for_load_state()  # until then the editor may take the place of the plain field
    field.fill("select 6 * 7 as answer")
    field.press("Control+Enter")
    expect(result.get_by_role("cell")).to_have_text("42")


@pytest.mark.parametrize("written", ["", "from runs"], ids=["empty", "a query"])
def test_somebody_may_type_while_the_editor_is_loaded(visitor: Visitor, written: str) -> None:
    page = visitor.page

    def begin() -> None:
        field = page.locator("textarea")
        field.press("Control+End")
        field.press_sequentially(" select 5")
        field.press("ArrowLeft")

    visitor.open_slowly("/sql", {"q": written}, script="sql-editor.js", act=begin)
    page.keyboard.type("6 * 7 + ")  # letters outside of a field would be keys
    assert page.locator("#query").input_value() == f"{written} select 6 * 7 + 5"
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**5")


def test_the_editor_takes_the_focus_from_nobody(visitor: Visitor) -> None:
    button = visitor.page.get_by_role("button", name="Run")
    visitor.open_slowly("/sql", {}, script="sql-editor.js", act=button.focus)
    expect(visitor.page.locator("[data-typing]")).to_be_visible()
    expect(button).to_be_focused()


def test_the_editor_completes_columns_of_the_tables_that_the_query_names(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open("/sql")
    page.wait_for_load_state()
    options = page.get_by_role("option")
    page.keyboard.type("from task_b")
    options.filter(has_text="task_bands").click()
    page.keyboard.type(" select pass_ra")
    options.filter(has_text="pass_ratio").click()
    expect(page.get_by_label("Query")).to_have_text("from task_bands select pass_ratio")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**q=from+task_bands+select+pass_ratio")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()


def test_the_editor_has_colours_and_typing_over_a_selection_keeps_the_policy(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.open("/sql", q="select 'a' as letter\nfrom runs")
    page.wait_for_load_state()
    colours = page.get_by_label("Query").evaluate(
        """content => [...content.querySelectorAll("span")].map(
            (span) => `${span.textContent} ${getComputedStyle(span).color}`)"""
    )
    assert len({text.partition(" ")[2] for text in colours}) >= 2, colours
    page.get_by_label("Query").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("select 7 as n")  # n is a letter here, not the next page
    assert page.locator("#query").input_value() == "select 7 as n"


def test_a_query_can_be_run_without_scripts(viewer: Watched, open_browser: VisitorFactory) -> None:
    page = open_browser(viewer.base, java_script_enabled=False).page
    page.goto(f"{viewer.base}/sql")
    page.get_by_label("Query").fill("select 6 * 7 as answer")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Result").get_by_role("cell")).to_have_text("42")


def test_ids_in_a_result_lead_to_their_pages(visitor: Visitor, world: World) -> None:
    page = visitor.page
    query = "select run_id, task_index, rollout_index, 'x' as other from rollout_infos"
    where = f" where run_id = '{world.a}' and task_index = 7 and rollout_index = 2"
    for name, heading in ((world.a, world.a), ("7", "Task 7"), ("2", "Task 7, rollout 2")):
        visitor.open("/sql", q=query + where)
        result = page.get_by_role("region", name="Result")
        expect(result.get_by_role("link")).to_have_count(4)  # and the download
        result.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def test_a_wrong_query_gets_its_message(visitor: Visitor) -> None:
    visitor.open("/sql", status=400, q="select no_such_column from runs")
    expect(visitor.page.get_by_role("alert")).to_contain_text("no_such_column")


def test_a_result_is_downloaded(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    visitor.open("/sql", q="select range as n, 'é' as letter from range(3)")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download CSV").click()
    started.value.save_as(tmp_path / "query.csv")
    assert started.value.suggested_filename == "query.csv"
    with (tmp_path / "query.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["n", "letter"], ["0", "é"], ["1", "é"], ["2", "é"]]


SHOWN = ("/", "/run", "/tasks", "/rollouts", "/task", "/rollout", "/compare", "/curate")


def test_every_query_that_is_shown_gives_rows(
    visitor: Visitor, world: World, tmp_path: Path
) -> None:
    page = visitor.page
    values = {"run": world.a, "task": 4, "rollout": 3, "a": world.a, "b": world.b}
    used = {"/": (), "/task": ("run", "task"), "/rollout": ("run", "task", "rollout")}
    queries: dict[str, str] = {}
    for path in SHOWN:
        names = ("a", "b") if path == "/compare" else used.get(path, ("run",))
        visitor.open(path, {name: values[name] for name in names})
        links = page.get_by_role("link", name="Open on the SQL page", include_hidden=True)
        addresses = [link.get_attribute("href") or "" for link in links.all()]
        assert addresses, path
        queries |= {parse_qs(urlsplit(one).query)["q"][0]: path for one in addresses}
        page.get_by_text("Show the query").first.click()
        links.first.click()
        expect(page.get_by_role("heading", name="Result")).to_be_visible()
    for query, said in ask_all(world.warehouse, list(queries), tmp_path).items():
        assert said[-1] == {"is_done": True}, (queries[query], query, said)
        assert any(message.get("rows") for message in said), (queries[query], query)
