"""Kinds and reasons of masked rollouts are texts of strangers: they are shown, and do nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import PHONE, Visitor, VisitorFactory, is_within_width
from tests.e2e.test_viewer_hostile import TEXTS, kept, settle, shown
from tests.programs import run_command
from tests.responses import response, says
from tests.support import Profiled, Row, inputs_of, key, profiled, write_run
from tests.viewers import Watched, viewing

REASON_CHARS = 500
PAGES = (
    "/",
    "/run?run=r",
    "/tasks?run=r",
    "/task?run=r&task=1",
    "/rollouts?run=r",
    "/rollouts?run=r&f.is_masked=yes&sort=failure_kind",
    "/compare?a=r&b=r",
)


def masked_run() -> Iterator[Row]:
    """A task for each text, of which one rollout is measured and another is masked by it."""
    for task, text in enumerate(TEXTS.values()):
        yield {**key(task, 0, reward=1.0), **response(says("yes"))}
        failed = {"mask_sample": text, "failure_kind": text, "failure_reason": text}
        yield {**key(task, 1, reward=0.0, **failed), **response(says("no"))}


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    rows = list(masked_run())
    run = write_run(tmp_path_factory.mktemp("masked"), rows, inputs=inputs_of(rows))
    return profiled(run, "--run-id", "r")


@pytest.fixture(scope="module")
def masked_viewer(masked: Profiled) -> Iterator[Watched]:
    with viewing(masked.warehouse, cwd=masked.warehouse.parent) as watched:
        yield watched


@pytest.fixture
def reader(masked_viewer: Watched, open_browser: VisitorFactory) -> Visitor:
    return open_browser(masked_viewer.base)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_runs_what_a_mask_says(
    path: str, reader: Visitor, masked_viewer: Watched, open_browser: VisitorFactory
) -> None:
    reader.open(path)
    settle(reader.page)
    phone = open_browser(masked_viewer.base, viewport=PHONE)
    phone.open(path)
    assert is_within_width(phone.page)


@pytest.mark.parametrize("name", TEXTS)
def test_a_masked_rollout_shows_its_reason_literally(name: str, reader: Visitor) -> None:
    task = list(TEXTS).index(name)
    reader.open("/rollout", run="r", task=task, rollout=1)
    settle(reader.page)
    reason = kept(TEXTS[name][:REASON_CHARS])
    assert " ".join(reason.split()) in " ".join(shown(reader.page, ".banner .reason").split())


def test_a_report_runs_nothing_either(masked: Profiled, open_browser: VisitorFactory) -> None:
    folder = masked.warehouse.parent
    done = run_command(
        "spotter", "report", "r", "-o", "report.html", "--rollout", "0:1", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    visitor = open_browser(f"file://{folder}")
    visitor.page.goto(f"file://{folder}/report.html")
    count = len(TEXTS)
    assert f"{count} of {2 * count} rollouts masked" in shown(visitor.page)
