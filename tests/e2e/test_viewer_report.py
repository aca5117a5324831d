"""The report: one file that is opened from disk, and needs nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import (
    PHONE,
    SCREENSHOTS,
    TASKS,
    Visitor,
    VisitorFactory,
    World,
    is_drawn,
    is_within_width,
    write_sums,
)
from tests.programs import run_command
from tests.support import profiled, read_json

COUNT = 5


def report_on(world: World, folder: Path, *options: str) -> Path:
    target = folder / "report.html"
    words = ("report", world.a, "-w", str(world.warehouse), "-o", str(target), *options)
    result = run_command("spotter", *words, cwd=folder)
    assert result.returncode == 0, result.stderr
    return target


@pytest.fixture(scope="module")
def report(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return report_on(world, folder, "--rollouts", str(COUNT), "--rollout", "3:1")


@pytest.fixture
def reader(report: Path, open_browser: VisitorFactory) -> Visitor:
    """Somebody who opened the report, and gets nothing but that file."""
    visitor = open_browser(report.as_uri())
    visitor.page.goto(report.as_uri())
    return visitor


def test_the_report_shows_the_run_with_its_charts(reader: Visitor, world: World) -> None:
    page = reader.page
    expect(page.get_by_role("heading", level=1)).to_have_text(world.a)
    names = ("rewards", "pass-rates", "attempts", "lengths", "slice-category")
    assert {name: is_drawn(page, f"#{name} canvas") for name in names} == dict.fromkeys(names, True)


def test_the_report_shows_the_tasks(reader: Visitor) -> None:
    rows = reader.page.get_by_role("table", name="Tasks", exact=True).locator("tbody tr")
    expect(rows).to_have_count(TASKS)
    expect(rows.nth(17)).to_contain_text("pangolin")


def test_the_report_shows_as_many_rollouts_as_were_asked_for(reader: Visitor) -> None:
    page = reader.page
    expect(page.get_by_role("heading", name=f"{COUNT + 1} rollouts")).to_be_visible()
    expect(page.locator("section.rollout")).to_have_count(COUNT + 1)
    named = page.locator("#rollout-3-1")
    named.get_by_text("Conversation,").click()
    expect(named.get_by_text("The sum is 7, says attempt 1.")).to_be_visible()


def test_the_rollouts_with_findings_come_first(reader: Visitor) -> None:
    headings = reader.page.locator("section.rollout h3").all_text_contents()
    assert headings[0].startswith("Task 3, rollout 1: Question 3 of the badger: what is 3 plus 4?")
    titles = [text.partition(":")[0] for text in headings]
    assert sorted(titles[1:3]) == ["Task 11, rollout 3", "Task 4, rollout 3"]
    findings = reader.page.locator("section.rollout .findings").all_inner_texts()
    assert findings == ["The output is truncated."] * 2
    verdicts = reader.page.locator("section.rollout .verdict").all_inner_texts()
    assert "pass" not in verdicts[3:], "then failures"
    assert len(verdicts[3:]) == COUNT - 2


def test_links_stay_inside_of_the_report(reader: Visitor) -> None:
    page = reader.page
    links = page.eval_on_selector_all(
        "a[href]", "links => links.map((a) => a.getAttribute('href'))"
    )
    assert [link for link in links if not link.startswith("#")] == []
    missing = [link for link in set(links) if not page.locator(f"[id='{link[1:]}']").count()]
    assert missing == []
    page.get_by_role("link", name="3", exact=True).click()
    expect(page.locator("#rollout-3-1")).to_be_in_viewport()


def test_a_point_of_a_chart_leads_to_its_rollout(reader: Visitor) -> None:
    page = reader.page
    canvas = page.locator("#lengths canvas")
    canvas.focus()
    hrefs = page.evaluate(
        "JSON.parse(document.querySelector('#lengths .chart-data').textContent).hrefs"
    )
    assert "#rollout-3-1" in hrefs
    assert set(filter(None, hrefs)) <= {
        f"#{one}"
        for one in page.eval_on_selector_all("section.rollout", "all => all.map((s) => s.id)")
    }


def test_ids_are_unique(reader: Visitor) -> None:
    ids = reader.page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert sorted({one for one in ids if ids.count(one) > 1}) == []


def test_the_report_fits_a_phone_and_the_night(report: Path, open_browser: VisitorFactory) -> None:
    for size, viewport in (("phone", PHONE), ("laptop", None)):
        options = {"viewport": viewport} if viewport else {}
        visitor = open_browser(report.as_uri(), **options)
        page = visitor.page
        page.goto(report.as_uri())
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(100)
            page.screenshot(path=SCREENSHOTS / f"report-{size}-{theme}.png")
            page.locator("section.rollout").first.scroll_into_view_if_needed()
            page.screenshot(path=SCREENSHOTS / f"report-rollout-{size}-{theme}.png")
        assert is_within_width(page)


def test_the_theme_of_a_report_can_be_changed(reader: Visitor) -> None:
    button = reader.page.get_by_role("button", name="Theme")
    button.click()
    expect(button).to_have_text("Theme: light")


def test_the_report_can_be_read_without_scripts(report: Path, open_browser: VisitorFactory) -> None:
    visitor = open_browser(report.as_uri(), java_script_enabled=False)
    visitor.page.goto(report.as_uri())
    visitor.page.locator("#rollout-3-1").get_by_text("Conversation,").click()
    expect(visitor.page.get_by_text("The sum is 7, says attempt 1.")).to_be_visible()


def test_the_report_is_one_file_that_names_no_other(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert [path.name for path in report.parent.iterdir()] == [report.name]
    assert not re.search(r'<(?:link|img|script|iframe)[^>]+(?:src|href)="(?!data:|#)', text)
    assert "Content-Security-Policy" in text
    assert "unsafe-inline" not in text


def test_a_report_tells_no_folders(report: Path, world: World) -> None:
    text = report.read_text(encoding="utf-8")
    assert world.alpha.rollouts.name in text
    assert str(world.warehouse.parent) not in text


def test_an_unknown_run_is_refused_with_a_guess(world: World, tmp_path: Path) -> None:
    wrong = world.a[:-1] + ("0" if world.a[-1] != "0" else "1")
    result = run_command("spotter", "report", wrong, "-w", world.warehouse, cwd=tmp_path)
    assert result.returncode == 2
    assert f"did you mean {world.a}?" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [("--rollout", "3"), ("--rollout", "3:99"), ("--agent", "nobody"), ("-o", "report.txt")],
    ids=["no rollout", "unknown rollout", "unknown agent", "no page"],
)
def test_what_cannot_be_reported_is_refused(
    options: tuple[str, str], world: World, tmp_path: Path
) -> None:
    result = run_command(
        "spotter", "report", world.a, "-w", world.warehouse, *options, cwd=tmp_path
    )
    assert result.returncode == 2, result.stderr
    assert options[1] in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_must_be_named_if_there_are_several(world: World, tmp_path: Path) -> None:
    result = run_command("spotter", "report", "-w", world.warehouse, cwd=tmp_path)
    assert result.returncode == 2
    assert world.b in result.stderr


def test_without_its_rollouts_file_a_report_says_so(
    tmp_path: Path, open_browser: VisitorFactory
) -> None:
    run = profiled(write_sums(tmp_path / "run", "sums", tasks=6))
    run.rollouts.unlink()
    shutil.rmtree(run.rollouts.parent / ".spotter-index", ignore_errors=True)
    target = tmp_path / "report.html"
    result = run_command(
        "spotter", "report", "-w", run.warehouse, "-o", target, "--json", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert read_json(result.stdout)["output"] == str(target)
    visitor = open_browser(target.as_uri())
    visitor.page.goto(target.as_uri())
    expect(visitor.page.get_by_text("The transcript cannot be shown").first).to_be_visible()
    assert str(tmp_path) not in target.read_text(encoding="utf-8")
    assert is_drawn(visitor.page, "#rewards canvas")
