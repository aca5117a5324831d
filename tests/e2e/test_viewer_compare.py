"""Two runs, two agents and two rollouts beside each other, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import (
    REPEATS,
    TASKS,
    Visitor,
    World,
    column,
    is_drawn,
    reward_of,
    wait_for_comparison,
)


def test_two_runs_are_selected_and_compared(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/")
    compare = page.get_by_role("button", name="Compare the selected runs")
    expect(compare).to_be_disabled()
    page.get_by_label(f"Select {world.a}").check()
    expect(compare).to_be_disabled()
    page.get_by_label(f"Select {world.b}").check()
    compare.click()
    page.wait_for_url("**/compare?a=**")
    wait_for_comparison(page)
    expect(page.get_by_role("heading", name=f"{TASKS} tasks of A and B")).to_be_visible()
    verdict = page.locator(".verdict-line")
    expect(verdict).to_contain_text(re.compile("^(B is|B and A are|It is open)"))
    chances = [float(text.removesuffix(" %")) for text in column(page, "Chance that it moved")]
    assert len(chances) == 50
    assert chances == sorted(chances, reverse=True), "the surest first"
    wanted = {
        task: sum(reward_of(task, i, shift=2) - reward_of(task, i) for i in range(REPEATS))
        / REPEATS
        for task in range(TASKS)
    }
    changes = [float(text) for text in column(page, "B minus A")]
    shown = dict(zip(map(int, column(page, "Task in A")), changes, strict=True))
    assert shown == pytest.approx({task: wanted[task] for task in shown}, abs=0.001)
    assert is_drawn(page, "#attempts canvas")
    assert is_drawn(page, "#scatter canvas")
    assert page.locator("svg.interval .span").count() >= 6, "both intervals, with their ends"


def test_a_circle_opens_the_table_of_its_tasks(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/compare", a=world.a, b=world.b)
    canvas = page.locator("#scatter canvas")
    canvas.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_url("**f.baseline_reward_mean=**")
    expect(page.get_by_role("heading", name=re.compile("tasks? of A and B"))).to_be_visible()
    assert len(set(column(page, "Mean reward in A"))) == 1
    assert len(set(column(page, "Mean reward in B"))) == 1


def test_rollouts_of_a_task_are_shown_side_by_side(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/compare", {"a": world.a, "b": world.b, "f.change": "newly failing"})
    page.get_by_role("link", name="side by side").first.click()
    page.wait_for_url("**pair=**#pair")
    section = page.locator("#pair")
    expect(section.locator(".pairs")).to_be_visible()
    row = section.get_by_role("row", name=re.compile("^reward"))
    assert row.locator("del").text_content() != row.locator("ins").text_content()


def test_the_agents_of_a_run_are_told_apart(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/run", run=world.c)
    expect(page.get_by_role("status").first).to_contain_text("Incomplete: 3 of 12")
    page.get_by_label("Agent").select_option("second")
    page.wait_for_url("**agent=second**")
    expect(page.get_by_role("heading", name="Scores of second")).to_be_visible()


def test_two_agents_of_a_run_are_compared(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/")
    for box in page.get_by_label(f"Select {world.c}").all():
        box.check()
    page.get_by_role("button", name="Compare the selected runs").click()
    page.wait_for_url("**/compare?a=**")
    wait_for_comparison(page)
    assert {"first", "second"} == {
        page.locator(f"select[name=agent_{letter}]").input_value() for letter in "ab"
    }


def test_the_tasks_of_both_are_those_of_the_chosen_agents(visitor: Visitor, world: World) -> None:
    page = visitor.page
    visitor.open("/compare", a=world.c, b=world.a, agent_a="second", sort="baseline_task_index")
    expect(page.get_by_role("heading", name=f"{TASKS} tasks of A and B")).to_be_visible()
    assert column(page, "Task in A")[:3] == ["1", "3", "–"]
    page.get_by_role("searchbox").fill("Question 3")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**q=Question**")
    expect(page.get_by_role("heading", name=re.compile("tasks? of A and B"))).to_be_visible()
    assert column(page, "Task in A")[0] == "3"
    assert page.locator("select[name=agent_a]").input_value() == "second"


def test_two_rollouts_are_compared_with_their_differences_marked(
    visitor: Visitor, world: World
) -> None:
    page = visitor.page
    visitor.open("/task", run=world.a, task=1)
    page.locator("select[name=a]").select_option("0")
    page.locator("select[name=b]").select_option("3")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**a=0&b=3**")
    removed = page.locator(".pairs del").all_inner_texts()
    added = page.locator(".pairs ins").all_inner_texts()
    assert any("0" in text for text in removed)
    assert any("3" in text for text in added)
    row = page.get_by_role("row", name=re.compile("extracted_answer"))
    assert row.locator("del").text_content() == "3"
    assert row.locator("ins").text_content() == "-2"
    expect(page.locator("details.pair.same").first).to_contain_text("Same in both")
