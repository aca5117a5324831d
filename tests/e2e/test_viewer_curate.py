"""The Curate page in a real browser: a rule moves, and the counts and the recipe follow."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from collector.curating.recipe import Recipe
from collector.curating.recipe_files import read_recipe
from tests.browser import (
    COMPARING_MS,
    REPEATS,
    TASKS,
    Visitor,
    VisitorFactory,
    World,
    reward_of,
    wait_for_selection,
)
from tests.viewers import Watched

RATES = [sum(reward_of(task, i) == 1 for i in range(REPEATS)) / REPEATS for task in range(TASKS)]


def chosen(least: float) -> str:
    """The heading of the page if all tasks from a pass rate on are kept."""
    return f"{sum(rate >= least for rate in RATES)} of {TASKS} tasks chosen"


def expect_chosen(page: Page, least: float) -> None:
    heading = page.get_by_role("status").filter(has_text="tasks chosen")
    expect(heading).to_have_text(chosen(least), timeout=COMPARING_MS)


def test_a_rule_moves_and_the_counts_and_the_recipe_follow(
    visitor: Visitor, world: World, tmp_path: Path
) -> None:
    page = visitor.page
    visitor.open("/run", run=world.a)
    page.get_by_role("link", name="Curate: choose what to train on").click()
    wait_for_selection(page)
    expect_chosen(page, 0)
    page.wait_for_load_state()  # until then there are no sliders
    page.get_by_label("decided on").select_option("point")
    page.get_by_label("at least", exact=True).fill("0.5")
    expect_chosen(page, 0.5)
    page.wait_for_url("**keep.low=0.5**")
    expect(page.locator("pre.recipe")).to_contain_text("pass_rate: [0.5, 1.0]")
    page.get_by_label("at least, as a slider").press("End")
    expect_chosen(page, 1)
    expect(page.get_by_label("at least", exact=True)).to_have_value("1")
    expect(page.locator("pre.recipe")).to_contain_text("pass_rate: [1.0, 1.0]")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download recipe.yml").click()
    download.value.save_as(tmp_path / "recipe.yml")
    wanted = {"keep": {"pass_rate": [1, 1], "decided_on": "point"}}
    assert read_recipe(tmp_path / "recipe.yml") == Recipe.model_validate(wanted)
    page.reload()
    expect_chosen(page, 1)


def test_a_rule_that_is_changed_while_the_page_is_loaded_counts(
    visitor: Visitor, world: World
) -> None:
    page = visitor.page

    def change() -> None:
        page.get_by_label("decided on").select_option("point")
        page.get_by_label("at least", exact=True).fill("0.5")

    visitor.open_slowly("/curate", {"run": world.a}, script="curate.js", act=change)
    expect_chosen(page, 0.5)
    expect(page.get_by_label("at least, as a slider")).to_have_value("0.5")


def test_a_wrong_rule_says_what_is_wrong_and_can_be_mended(
    viewer: Watched, open_browser: VisitorFactory, world: World
) -> None:
    visitor = open_browser(viewer.base, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.page
    visitor.open("/curate", {"run": world.a, "keep.low": 3}, status=400)
    alert = page.locator("#selection").get_by_role("alert")
    expect(alert).to_contain_text("less than or equal to 1")
    page.get_by_label("at least", exact=True).fill("0")
    expect(alert).to_have_count(0)
    expect_chosen(page, 0)
    page.get_by_label("that are mostly masked").check()
    expect(page.locator("pre.recipe")).to_contain_text("drop: [masked]")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "drop: [masked]\n"


def test_the_rules_can_be_applied_without_scripts(
    viewer: Watched, open_browser: VisitorFactory, world: World
) -> None:
    visitor = open_browser(viewer.base, java_script_enabled=False)
    page = visitor.page
    page.goto(f"{viewer.base}/curate?run={world.a}")
    wait_for_selection(page)
    page.get_by_label("at least", exact=True).fill("0.5")
    page.get_by_label("decided on").select_option("point")
    page.get_by_role("button", name="Apply").click()
    wait_for_selection(page)
    expect_chosen(page, 0.5)
    assert re.search(r"keep\.low=0\.5\b", page.url)
