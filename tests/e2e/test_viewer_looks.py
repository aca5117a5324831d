"""What the viewer looks like, on a laptop and a phone, by day and by night; and who can use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from collector.viewer import app
from tests.browser import (
    LAPTOP,
    PHONE,
    SCREENSHOTS,
    TASKS,
    Visitor,
    VisitorFactory,
    World,
    is_drawn,
    is_within_width,
)
from tests.viewers import Watched

Theme = Literal["light", "dark"]
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "runs": ("/", {}),
    "run": ("/run", {"run": "A"}),
    "run-incomplete": ("/run", {"run": "C"}),
    "tasks": ("/tasks", {"run": "A", "f.pass_ratio": "<1", "sort": "-reward_mean"}),
    "tasks-none": ("/tasks", {"run": "A", "q": "no such prompt"}),
    "tasks-wrong-filter": ("/tasks", {"run": "A", "f.pass_ratio": "a lot"}),
    "task": ("/task", {"run": "A", "task": 5}),
    "task-compared": ("/task", {"run": "A", "task": 1, "a": 0, "b": 3}),
    "rollouts": ("/rollouts", {"run": "A"}),
    "rollouts-search": ("/rollouts", {"run": "A", "q": "sum is 7"}),
    "rollout": ("/rollout", {"run": "A", "task": 5, "rollout": 1}),
    "rollout-long": ("/rollout", {"run": "A", "task": 6, "rollout": 0}),
    "compare": ("/compare", {"a": "A", "b": "B"}),
    "curate": (
        "/curate",
        {"run": "A", "keep.low": 0.2, "undecided": "top_up", "drop": "truncated"},
    ),
    "curate-wrong": ("/curate", {"run": "A", "keep.low": 3}),
    "sql": ("/sql", {}),
    "sql-result": ("/sql", {"q": "select * from task_profiles limit 20"}),
    "sql-wrong": ("/sql", {"q": "selec 1"}),
    "not-found": ("/run", {"run": "no-such-run"}),
}
STATUS = {"curate-wrong": 400, "sql-wrong": 400, "not-found": 404}
SIZES: dict[str, ViewportSize] = {
    "laptop": {"width": LAPTOP["width"], "height": LAPTOP["height"]},
    "phone": {"width": PHONE["width"], "height": PHONE["height"]},
}
EVERY = pytest.mark.parametrize("name", PAGES)
NAMELESS = """() => {
    const named = (field) => field.getAttribute("aria-label") || field.labels?.length ||
        field.getAttribute("aria-labelledby") || field.title;
    return [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
        .filter((field) => !named(field)).map((field) => field.outerHTML);
}"""
REPEATED_IDS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    return ids.filter((id, place) => ids.indexOf(id) !== place);
}"""
MUTE = """() => [...document.querySelectorAll("a[href], button")]
    .filter((one) => one.offsetParent && !one.textContent.trim() && !one.ariaLabel)
    .map((one) => one.outerHTML)"""
SKIPPED_LEVELS = """() => {
    const found = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
    const levels = found.filter((one) => !one.closest("dialog")).map((one) => +one.tagName[1]);
    return levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1);
}"""
FAINT = """() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d", {willReadFrequently: true});
    const rgba = (colour) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
        const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const behind = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const colour = rgba(getComputedStyle(one).backgroundColor);
            if (colour[3] > 250) return colour;
        }
        return [255, 255, 255];
    };
    const faint = new Map();
    for (const element of document.querySelectorAll("main *, header *, footer *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        const box = element.getBoundingClientRect();
        if (!own || box.width < 2 || !element.checkVisibility() || element.disabled) continue;
        const a = light(rgba(getComputedStyle(element).color));
        const b = light(behind(element));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const name = `${element.tagName} .${element.className}`;
        const text = element.textContent.trim().slice(0, 30);
        if (ratio < 4.5) faint.set(name, `${name} ${ratio.toFixed(2)} ${text}`);
    }
    return [...faint.values()];
}"""


def go(visitor: Visitor, name: str, world: World) -> Page:
    path, values = PAGES[name]
    runs = {"A": world.a, "B": world.b, "C": world.c}
    given = {key: runs.get(value, value) for key, value in values.items()}
    visitor.open(path, given, status=STATUS.get(name, 200))
    return visitor.page


@EVERY
@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_is_legible_by_day_and_night_and_has_landmarks(
    size: str,
    name: str,
    viewer: Watched,
    open_browser: VisitorFactory,
    world: World,
    pytestconfig: pytest.Config,
) -> None:
    """With --screenshots it also keeps a picture of each, for people to look at."""
    is_phone = size == "phone"
    visitor = open_browser(
        viewer.base,
        viewport=SIZES[size],
        has_touch=is_phone,
        is_mobile=is_phone,
        color_scheme="light",
    )
    page = go(visitor, name, world)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    has_pictures = pytestconfig.getoption("--screenshots")
    faint: dict[str, list[str]] = {}
    themes: tuple[Theme, Theme] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(200)
        if has_pictures:
            page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{theme}.png", full_page=True)
        faint[theme] = page.evaluate(FAINT)
    assert is_within_width(page)
    assert faint == {"light": [], "dark": []}
    if not is_phone:  # the page is the same, and to load it again is dear
        check_for_screen_reader(page, name)


def check_for_screen_reader(page: Page, name: str) -> None:
    assert page.get_by_role("heading", level=1).count() == 1
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark
    assert page.get_by_role("navigation").count() >= 2
    assert page.locator("html[lang]").count() == 1
    assert page.locator("img:not([alt])").count() == 0
    assert page.locator("canvas:not([aria-label])").count() == 0
    for check in (NAMELESS, REPEATED_IDS, MUTE, SKIPPED_LEVELS):
        assert page.evaluate(check) == []
    if name != "sql":  # which begins in its field
        page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


def test_what_has_the_focus_is_seen(visitor: Visitor, world: World) -> None:
    page = go(visitor, "tasks", world)
    unseen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        unseen += page.evaluate(
            """() => {
                const one = document.activeElement;
                const style = getComputedStyle(one);
                const isSeen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
                    || style.boxShadow !== "none";
                return isSeen ? [] : [one.outerHTML.slice(0, 200)];
            }"""
        )
    assert unseen == []


def test_every_page_is_looked_at() -> None:
    routes = {route.path for module in app.PAGES for route in module.ROUTES}
    others = {
        "/live",
        "/sql.csv",
        "/task/text",
        "/rollout/raw",
        "/rollout/text",
        "/curate/recipe.yml",
    }  # no pages
    assert {path for path, _ in PAGES.values()} == routes - others


BOX = ".scroll:has(> .listing)"


@pytest.mark.parametrize("size", SIZES)
def test_a_table_has_the_height_of_its_rows_and_its_head_stays(
    size: str, viewer: Watched, open_browser: VisitorFactory, world: World
) -> None:
    visitor = open_browser(viewer.base, viewport=SIZES[size])
    page = go(visitor, "tasks", world)
    box = page.locator(BOX)
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    row = page.locator("table.listing tbody tr").nth(40)
    row.scroll_into_view_if_needed()
    expect(page.get_by_role("columnheader", name="Task")).to_be_in_viewport()
    top = page.locator("table.listing thead").evaluate("head => head.getBoundingClientRect().top")
    assert abs(top) < 2


def is_in_sight(page: Page, selector: str) -> bool:
    """Whether all that a selector finds is within the width of the window, without scrolling."""
    return bool(
        page.eval_on_selector_all(
            selector,
            """all => all.length > 0 && all.every((one) => {
                const { left, right } = one.getBoundingClientRect();
                return left >= 0 && right <= innerWidth;
            })""",
        )
    )


def test_a_phone_shows_the_difference_with_all_of_its_intervals(
    viewer: Watched, open_browser: VisitorFactory, world: World
) -> None:
    visitor = open_browser(viewer.base, viewport=SIZES["phone"])
    page = go(visitor, "compare", world)
    assert page.locator(".intervals td.bounds").count() >= 2
    assert is_in_sight(page, ".intervals :is(td.number, td.bounds)")
    go(visitor, "tasks", world)
    assert is_in_sight(page, "table.tasks tbody .ranged .bounds")


def colour(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_the_theme_is_changed_and_kept(visitor: Visitor, world: World) -> None:
    visitor.page.emulate_media(color_scheme="light")
    page = go(visitor, "run", world)
    day = colour(page)
    button = page.get_by_role("button", name="Theme")
    button.click()
    expect(button).to_have_text("Theme: light")
    assert colour(page) == day
    button.click()
    expect(button).to_have_text("Theme: dark")
    night = colour(page)
    assert night != day
    assert is_drawn(page, "#rewards canvas")
    page.reload()
    assert colour(page) == night
    other = visitor.context.new_page()
    visitor.open("/", at=other)
    assert colour(other) == night


def test_the_system_chooses_the_theme_at_first(visitor: Visitor, world: World) -> None:
    page = go(visitor, "run", world)
    root = page.locator("html")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_css("color-scheme", "light")
    day = colour(page)
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_css("color-scheme", "dark")
    assert colour(page) != day


def test_the_link_is_copied(viewer: Watched, open_browser: VisitorFactory, world: World) -> None:
    visitor = open_browser(viewer.base, permissions=["clipboard-read", "clipboard-write"])
    page = go(visitor, "tasks", world)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_pages_can_be_printed(visitor: Visitor, world: World, tmp_path: Path) -> None:
    page = go(visitor, "rollout", world)
    page.pdf(path=tmp_path / "rollout.pdf")
    assert (tmp_path / "rollout.pdf").stat().st_size > 10_000


def test_pages_can_be_read_without_scripts(
    viewer: Watched, open_browser: VisitorFactory, world: World
) -> None:
    page = open_browser(viewer.base, java_script_enabled=False).page
    page.goto(viewer.base)
    page.get_by_role("link", name=world.a).click()
    page.get_by_text("Show the numbers").first.click()
    expect(page.get_by_role("table", name="Rewards")).to_be_visible()
    page.get_by_role("link", name=f"All {TASKS} tasks").click()
    page.get_by_role("searchbox").fill("pangolin")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="101", exact=True).click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".pairs del").first).to_be_visible()
    page.get_by_role("link", name="Rollout 1").first.click()
    expect(page.get_by_text("The sum is").first).to_be_visible()
    page.get_by_text("Show the raw JSON").click()
    page.get_by_role("link", name="Open the raw JSON").click()
    expect(page.locator("body")).to_contain_text("resp_101_1")
