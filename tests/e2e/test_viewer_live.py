"""Files that change while somebody looks: a collection that runs, rollouts that are gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import expect

from tests.browser import Visitor, VisitorFactory, sum_input, sum_rollout, write_sums
from tests.programs import run_process
from tests.support import Profiled, Row, profiled, run_profile, write_lines, write_run
from tests.viewers import Watched, viewing

TASKS = 4
RUN = "sums"
UPDATE_MS = 60_000
DEEP = 1010  # what JSON is read up to, and Python compares no more


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A small run, profiled; each test gets a copy of its warehouse and files."""
    run = write_sums(tmp_path_factory.mktemp("pristine") / "work", RUN, tasks=TASKS)
    _age(run)
    return profiled(run, "--run-id", RUN)


@pytest.fixture
def sums(pristine: Profiled) -> Iterator[Profiled]:
    """The run as it was profiled: the warehouse knows its files by their full path."""
    folder = pristine.rollouts.parent
    kept = folder.with_name("kept")
    if not kept.exists():
        shutil.copytree(folder, kept)
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    yield pristine
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


@pytest.fixture
def sums_viewer(sums: Profiled) -> Iterator[Watched]:
    with viewing(sums.warehouse, cwd=sums.warehouse.parent) as watched:
        yield watched


@pytest.fixture
def reader(sums_viewer: Watched, open_browser: VisitorFactory) -> Visitor:
    return open_browser(sums_viewer.base)


def _age(run: Profiled) -> None:
    for path in (run.rollouts, run.inputs, run.failures):
        os.utime(path, (time.time() - 3600,) * 2)


def append(path: Path, *rows: Row) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


# --- files that are gone or different ------------------------------------------------------------


def test_a_missing_rollouts_file_is_said_and_the_figures_remain(
    sums: Profiled, reader: Visitor
) -> None:
    sums.rollouts.unlink()
    page = reader.page
    reader.open("/run", run=RUN)
    expect(page.get_by_role("status").first).to_contain_text("The rollouts file no longer exists")
    expect(page.get_by_role("status").first).to_contain_text(str(sums.rollouts))
    reader.open("/tasks", run=RUN)
    expect(page.locator("table.listing tbody tr")).to_have_count(TASKS)
    reader.open("/task", run=RUN, task=1, a=0, b=1)
    expect(page.locator(".banner").first).to_contain_text("Transcripts cannot be shown")
    expect(page.get_by_text("Question 1 of the badger").first).to_be_visible()
    reader.open("/rollout", run=RUN, task=1, rollout=0)
    expect(page.get_by_role("alert")).to_contain_text(str(sums.rollouts))
    expect(page.locator(".figures")).to_contain_text("Output tokens")
    reader.open("/rollout/raw", status=404, run=RUN, task=1, rollout=0)


def test_a_file_that_is_gone_while_it_is_looked_at_is_said(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    reader.open("/rollout", run=RUN, task=1, rollout=0)
    expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
    sums.rollouts.unlink()
    page.keyboard.press("n")
    page.wait_for_url("**rollout=1**")
    expect(page.get_by_role("alert")).to_contain_text("The transcript cannot be shown")


def test_lines_that_are_added_can_be_read(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    reader.open("/rollout", run=RUN, task=1, rollout=0)
    append(sums.rollouts, sum_rollout(1, 9))
    reader.open("/rollout", run=RUN, task=1, rollout=9)
    expect(page.get_by_text("says attempt 9.")).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text(
        "was collected after the file was profiled"
    )
    reader.open("/rollout", run=RUN, task=1, rollout=3)
    expect(page.get_by_text("says attempt 3.")).to_be_visible()


def test_a_file_that_was_rewritten_is_shown_with_a_warning(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    reader.open("/rollout", run=RUN, task=1, rollout=0)
    keys = [(task, index) for task in reversed(range(TASKS)) for index in range(4)]
    rows = [{**sum_rollout(*one), "reward": 0.25, "added": "x" * one[0]} for one in keys]
    write_lines(sums.rollouts, rows)
    reader.open("/rollout", run=RUN, task=1, rollout=0)
    warnings = " ".join(page.get_by_role("status").all_inner_texts())
    assert "changed after it was profiled" in warnings
    assert "The reward in the file is 0.25" in warnings
    expect(page.get_by_text("in attempt 0.").first).to_be_attached()
    reader.open("/run", run=RUN)
    expect(page.get_by_role("status").first).to_contain_text("spotter profile")


def test_a_nest_that_is_too_deep_is_told(sums: Profiled, sums_viewer: Watched) -> None:
    row = sum_rollout(0, 9)
    row["responses_create_params"]["instructions"] = row["response"]["instructions"] = "NEST"
    nest = "[" * DEEP + '"the end"' + "]" * DEEP
    with sums.rollouts.open("a") as file:
        file.write(json.dumps(row).replace('"NEST"', nest) + "\n")
    answer = sums_viewer.get(f"/rollout?run={RUN}&task=0&rollout=9")
    if answer.status_code == 200:  # some versions of Python go deeper than others
        assert "the end" in answer.text
    else:
        assert answer.status_code == 500
        assert "The JSON of this rollout is nested too deeply to show." in answer.text
        assert "Open the raw JSON" in answer.text
    assert "the end" in sums_viewer.get(f"/rollout/raw?run={RUN}&task=0&rollout=9").text


def test_a_file_that_lost_its_end_says_what_is_missing(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    reader.open("/rollout", run=RUN, task=3, rollout=3)
    lines = sums.rollouts.read_bytes().splitlines(keepends=True)
    sums.rollouts.write_bytes(b"".join(lines[:6]) + lines[6][:100])
    reader.open("/rollout", run=RUN, task=3, rollout=3)
    expect(page.get_by_role("alert")).to_contain_text("no rollout 3 of task 3")
    reader.open("/rollout", run=RUN, task=1, rollout=2)
    expect(page.get_by_role("alert")).to_contain_text("no rollout 2 of task 1")
    reader.open("/rollout", run=RUN, task=1, rollout=1)
    expect(page.get_by_text("says attempt 1.")).to_be_visible()


def test_the_advice_to_profile_again_works(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    rows = [{**sum_rollout(task, i), "reward": 0.5} for task in range(TASKS) for i in range(4)]
    write_lines(sums.rollouts, rows)
    reader.open("/run", run=RUN)
    words = (page.locator(".banner code").first.text_content() or "").split()
    assert words[:2] == ["spotter", "profile"]
    result = run_profile(*words[2:], cwd=sums.rollouts.parent)
    assert result.returncode == 0, result.stderr
    page.reload()
    expect(page.locator(".banner")).to_have_count(0)
    expect(page.locator(".tile").first).to_contain_text("0.500")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "removed": (Path.unlink, "no warehouse at {}\n"),
    "emptied": (
        lambda path: path.write_bytes(b""),
        'The file "{}" exists, but it is not a valid DuckDB database file!',
    ),
    "something else": (
        lambda path: path.write_text("no warehouse\n" * 1000),
        "cannot open the warehouse {}: it is not a DuckDB file",
    ),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("path", ["/", "/sql?q=select+1"])
def test_a_warehouse_that_is_gone_is_said(
    path: str, damage: Callable[[Path], object], said: str, sums: Profiled, sums_viewer: Watched
) -> None:
    assert sums_viewer.get(path).status_code == 200
    _wait_until_closed(sums_viewer, sums.warehouse)
    damage(sums.warehouse)
    answer = sums_viewer.get(path)
    assert answer.status_code == 500
    assert said.format(sums.warehouse) in unescape(answer.text)
    assert "Traceback" not in answer.text
    assert "<h1>" in answer.text


def _wait_until_closed(viewer: Watched, warehouse: Path) -> None:
    """The viewer keeps the warehouse open for a moment after each page."""
    files = Path(f"/proc/{viewer.process.pid}/fd")
    while any(warehouse == path.readlink() for path in files.iterdir() if path.exists()):
        time.sleep(0.05)


def test_a_warehouse_that_comes_back_is_shown_again(
    sums: Profiled, sums_viewer: Watched, reader: Visitor
) -> None:
    away = sums.warehouse.with_suffix(".away")
    _wait_until_closed(sums_viewer, sums.warehouse)
    sums.warehouse.rename(away)
    reader.open("/", status=500)
    expect(reader.page.get_by_role("alert")).to_contain_text("warehouse")
    away.rename(sums.warehouse)
    reader.open("/")
    expect(reader.page.get_by_role("link", name=RUN)).to_be_visible()


def test_a_profile_can_be_made_while_somebody_looks(sums: Profiled, reader: Visitor) -> None:
    page = reader.page
    reader.open("/")
    expect(page.locator("table.listing tbody tr")).to_have_count(1)
    other = write_sums(sums.rollouts.parent, "other", tasks=2)
    _age(other)
    result = run_profile(other.rollouts, "--run-id", "other", cwd=sums.rollouts.parent)
    assert result.returncode == 0, result.stderr
    page.reload()
    expect(page.locator("table.listing tbody tr")).to_have_count(2)
    page.get_by_role("link", name="other").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("other")


def test_a_profile_gets_its_turn_among_many_pages(sums: Profiled, sums_viewer: Watched) -> None:
    other = write_sums(sums.rollouts.parent, "other", tasks=2)
    is_over = threading.Event()

    def click() -> None:
        while not is_over.wait(0.2):
            sums_viewer.get("/")

    clicking = threading.Thread(target=click)
    clicking.start()
    try:  # if it had to wait until nobody looks any more, it would wait until it gives up
        result = run_profile(other.rollouts, "--run-id", "other", cwd=sums.rollouts.parent)
    finally:
        is_over.set()
        clicking.join()
    assert result.returncode == 0, result.stderr


def test_a_run_is_as_new_as_the_moment_before_its_files_were_read(sums: Profiled) -> None:
    waiting = sums.warehouse.with_name(f".{sums.warehouse.name}.waiting")
    with ThreadPoolExecutor() as pool, duckdb.connect(str(sums.warehouse), read_only=True):
        again = pool.submit(
            run_process,
            "spotter",
            "profile",
            sums.rollouts,
            "--run-id",
            RUN,
            cwd=sums.rollouts.parent,
        )
        while not waiting.exists():
            assert not again.done()
            time.sleep(0.05)
        append(sums.rollouts, sum_rollout(TASKS, 0))  # when all that it will see is read
        written = sums.rollouts.stat().st_mtime
    assert again.result().returncode == 0
    ((profiled_at,),) = sums.query("select epoch(profiled_at) from runs")
    assert profiled_at < written


def test_the_end_of_the_viewer_is_the_end_of_its_profile(sums: Profiled) -> None:
    lines = sums.rollouts.read_bytes().splitlines(keepends=True)
    sums.rollouts.write_bytes(b"".join(lines[:-2]))
    profiled(sums, "--run-id", RUN, "--allow-partial")
    waiting = sums.warehouse.with_name(f".{sums.warehouse.name}.waiting")
    with viewing(sums.warehouse, cwd=sums.warehouse.parent) as watched:
        with sums.rollouts.open("ab") as file:
            file.write(lines[-2])
        with duckdb.connect(str(sums.warehouse), read_only=True):  # which its profile waits for
            assert watched.get(f"/live?run={RUN}").json()["is_running"]
            (child,) = watched.children()
            while not waiting.exists():
                time.sleep(0.05)
            assert watched.stop(signal.SIGTERM) == (0, "the viewer has stopped\n")
            assert not Path(f"/proc/{child}").exists()


# --- a collection that runs ----------------------------------------------------------------------


@pytest.mark.slow
def test_a_running_collection_grows_on_its_page_until_it_is_done(
    tmp_path: Path, open_browser: VisitorFactory
) -> None:
    keys = [(task, index) for task in range(3) for index in range(2)]
    rollouts = [sum_rollout(*one) for one in keys]
    run = write_run(tmp_path, rollouts[:2], inputs=[sum_input(*one) for one in keys], name="live")
    with viewing(run.rollouts, cwd=tmp_path) as watched:
        visitor = open_browser(watched.base)
        page = visitor.page
        page.goto(watched.url)
        banner = page.locator(".banner.provisional")
        expect(banner).to_contain_text("2 of 6 rollouts")
        expect(page.get_by_role("heading", level=1)).to_contain_text("provisional")
        # what lies beside the data is not run
        (tmp_path / "orjson.py").write_text("open('hijacked', 'w')")
        append(run.rollouts, rollouts[2])
        with run.rollouts.open("a") as file:  # half a line
            file.write(json.dumps(rollouts[3])[:50])
        expect(banner).to_contain_text("3 of 6 rollouts", timeout=UPDATE_MS)
        with run.rollouts.open("a") as file:
            file.write(json.dumps(rollouts[3])[50:] + "\n")
        append(run.rollouts, *rollouts[4:])
        expect(banner).to_have_count(0, timeout=UPDATE_MS)
        expect(page.get_by_role("heading", level=1)).not_to_contain_text("provisional")
        expect(page.get_by_role("link", name=re.compile("All 6 rollouts"))).to_be_visible()
        page.get_by_role("link", name="All 3 tasks").click()
        page.locator(".strip a.cell").last.click()
        expect(page.get_by_role("heading", name="Conversation")).to_be_visible()
        visitor.leave()
    assert not run.profiling.exists()
    assert not (tmp_path / "hijacked").exists()


@pytest.mark.slow
def test_a_page_is_not_taken_away_from_somebody_who_reads(
    tmp_path: Path, open_browser: VisitorFactory
) -> None:
    keys = [(task, index) for task in range(3) for index in range(2)]
    rollouts = [sum_rollout(*one) for one in keys]
    run = write_run(tmp_path, rollouts[:3], inputs=[sum_input(*one) for one in keys], name="live")
    with viewing(run.rollouts, cwd=tmp_path) as watched:
        visitor = open_browser(watched.base)
        page = visitor.page
        page.goto(watched.url)
        page.get_by_text("Show the numbers").first.click()
        page.keyboard.press("?")
        append(run.rollouts, rollouts[3])
        expect(page.locator(".live-status")).to_contain_text("Newer figures", timeout=UPDATE_MS)
        page.keyboard.press("Escape")
        expect(page.locator(".banner.provisional")).to_contain_text("4 of 6", timeout=UPDATE_MS)
        expect(page.locator("details.numbers").first).to_have_attribute("open", "")
        visitor.leave()


def test_a_rollouts_file_without_its_inputs_is_shown(
    tmp_path: Path, open_browser: VisitorFactory
) -> None:
    run = write_run(tmp_path, [sum_rollout(0, 0), sum_rollout(0, 1)], inputs=[], name="bare")
    run.inputs.unlink()
    with viewing(run.rollouts, cwd=tmp_path) as watched:
        visitor = open_browser(watched.base)
        page = visitor.page
        page.goto(watched.url)
        expect(page.get_by_role("status").first).to_contain_text("are treated as the complete run")
        expect(page.get_by_role("link", name="All 2 rollouts")).to_be_visible()
        visitor.leave()
