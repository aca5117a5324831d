"""Looking at the viewer in a real browser, and noting everything that goes wrong there."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import struct
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
    Route,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError

from collector.artifacts import default_run_id
from collector.comparing.compare import ComparisonSettings, Pair, build_comparisons
from collector.warehouse.scratch import open_scratch
from tests.responses import calls, says, thinks
from tests.support import ROOT, Profiled, Row, key, profiled, write_lines, write_run
from tests.viewers import Watched, viewing

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # one process for all pages: each visit to a viewer would start a new one
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
)
SCREENSHOTS = ROOT / "target" / "screenshots"
LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
TASKS = 130
REPEATS = 4
SLOW_MS = 10_000
COMPARING_MS = 60_000
expect.set_options(timeout=SLOW_MS)
# a page that the test asked for, although it knew that there is nothing
REFUSED = "Failed to load resource: the server responded with a status of"
NOTE_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


class Visitor:
    """A person with a browser; what goes wrong in it is kept in `troubles`."""

    def __init__(self, browser: Browser, options: Mapping[str, Any]) -> None:
        self.base = ""
        self.troubles: list[str] = []
        self._refused: set[str] = set()
        self._messages: list[tuple[str, str]] = []
        self._has_asked = False
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(SLOW_MS)
        self.context.add_init_script(NOTE_VIOLATIONS)
        self.context.on("request", self._asked)
        self.context.on("page", self._watch)
        self.page = self.context.new_page()
        self._viewport = self.page.viewport_size

    def forget(self) -> None:
        """Be as a new browser is: to start one takes longer than most tests do."""
        if not self._has_asked:  # the test has opened nothing
            return
        for page in self.context.pages:
            if page != self.page:
                page.close()
        with contextlib.suppress(PlaywrightError):  # some addresses have no storage
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.context.clear_cookies()
        self.page.goto("about:blank")
        self.page.emulate_media(media="null", color_scheme="null")
        if self._viewport:
            self.page.set_viewport_size(self._viewport)
        self.troubles.clear()
        self._refused.clear()
        self._messages.clear()
        self._has_asked = False

    def open(
        self,
        path: str,
        values: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
        at: Page | None = None,
        **more: Any,
    ) -> Response:
        """Go to an address of the viewer, which answers with this status."""
        given = {**(values or {}), **more}
        address = self.base + path + (f"?{urlencode(given)}" if given else "")
        if status != 200:
            self._refused.add(address)
        answer = (at or self.page).goto(address)
        assert answer
        if status != 200:  # the browser may have tidied up the address
            self._refused.add(answer.url)
        assert answer.status == status, f"{answer.status} for {path}"
        if path == "/compare":
            wait_for_comparison(at or self.page)
        if path == "/curate":
            wait_for_selection(at or self.page)
        return answer

    def open_slowly(
        self, path: str, values: Mapping[str, Any], *, script: str, act: Callable[[], None]
    ) -> None:
        """Go to an address, and act before this script of the page arrives."""

        def hold(route: Route) -> None:
            act()
            route.continue_()

        self.page.route(f"**/static/{script}", hold)
        self.open(path, values)
        self.page.unroute_all()

    def check(self) -> None:
        """Fail if anything went wrong so far."""
        for page in self.context.pages:
            if page.url.startswith(self.base) and not page.is_closed():
                page.wait_for_load_state()
                found = page.evaluate("[window.violations ?? [], String(window.pwned)]")
                self.troubles += [f"policy: {one}" for one in found[0]]
                self.troubles += [] if found[1] == "undefined" else [f"{page.url}: a script ran"]
        said = [
            f"console: {text} at {where}"
            for text, where in self._messages
            if not (text.startswith(REFUSED) and where in self._refused)
        ]
        assert not [*self.troubles, *said], [*self.troubles, *said]

    def leave(self) -> None:
        """Go before the viewer does: what a browser asks for later is refused."""
        self.check()
        self.page.goto("about:blank")

    def _watch(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("dialog", self._interrupted)
        page.on("websocket", lambda socket: self.troubles.append(f"web socket: {socket.url}"))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self._messages.append((message.text, message.location.get("url", "")))

    def _asked(self, request: Request) -> None:
        self._has_asked = True
        if not request.url.startswith((self.base, "data:image/", "about:blank")):
            self.troubles.append(f"request to {request.url[:200]}")

    def _interrupted(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def wait_for_comparison(page: Page) -> None:
    """Wait until the page no longer says that the runs are being compared, and reloads."""
    waiting = page.get_by_role("heading", name="Comparing the runs")
    expect(waiting).to_have_count(0, timeout=COMPARING_MS)


def wait_for_selection(page: Page) -> None:
    """Wait until the Curate page no longer says that the tasks are being chosen."""
    expect(page.locator("#selection[data-waiting]")).to_have_count(0, timeout=COMPARING_MS)


VisitorFactory = Callable[..., Visitor]


@dataclass(frozen=True)
class Chromium:
    """A browser, and the event loop that drives it."""

    browser: Browser
    loop: asyncio.AbstractEventLoop

    @contextlib.contextmanager
    def awake(self) -> Iterator[None]:
        """Let the loop be the running one: at other times, tests may run loops of their own."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser for all tests of a worker: it takes more than a second to start."""
    if not CHROMIUM.exists():
        reason = f"there is no browser at {CHROMIUM}"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, which the tests of the viewer need")
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        started = Chromium(browser, asyncio.get_running_loop())
        asyncio._set_running_loop(None)
        yield started
        with started.awake():
            browser.close()
        asyncio._set_running_loop(started.loop)  # playwright stops it


class Visitors:
    """Visitors that no test uses at the moment, by the options of their browsers."""

    def __init__(self, chromium: Chromium) -> None:
        self.chromium = chromium
        self._idle: dict[str, list[Visitor]] = defaultdict(list)

    def take(self, base: str, options: Mapping[str, Any]) -> Visitor:
        """Return a visitor who has seen nothing yet."""
        idle = self._idle[repr(sorted(options.items()))]
        visitor = idle.pop() if idle else Visitor(self.chromium.browser, options)
        visitor.base = base
        return visitor

    def put_back(self, visitor: Visitor, options: Mapping[str, Any]) -> None:
        visitor.forget()
        self._idle[repr(sorted(options.items()))].append(visitor)


@pytest.fixture(scope="session")
def visitors(chromium: Chromium) -> Visitors:
    return Visitors(chromium)


@pytest.fixture
def open_browser(visitors: Visitors) -> Iterator[VisitorFactory]:
    """Open browsers for the time of a test; nothing may go wrong in them."""
    used: list[tuple[Visitor, Mapping[str, Any]]] = []

    def start(base: str, **options: Any) -> Visitor:
        options = {"viewport": LAPTOP, **options}
        used.append((visitors.take(base, options), options))
        return used[-1][0]

    with visitors.chromium.awake():
        yield start
        try:
            for visitor, _ in used:
                visitor.check()
        except BaseException:
            for visitor, _ in used:
                visitor.context.close()
            raise
        for visitor, options in used:
            visitors.put_back(visitor, options)


# --- runs to look at -----------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """Three runs in one warehouse: two of the same tasks, and a small one with two agents."""

    alpha: Profiled
    beta: Profiled
    gamma: Profiled

    @property
    def warehouse(self) -> Path:
        return self.alpha.warehouse

    @property
    def a(self) -> str:
        """The name of the first run."""
        return default_run_id(self.alpha.rollouts)

    @property
    def b(self) -> str:
        return default_run_id(self.beta.rollouts)

    @property
    def c(self) -> str:
        return default_run_id(self.gamma.rollouts)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Runs that no test changes."""
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def viewer(world: World) -> Iterator[Watched]:
    """The viewer of these runs."""
    with viewing(world.warehouse, cwd=world.warehouse.parent) as watched:
        yield watched


@pytest.fixture
def visitor(viewer: Watched, open_browser: VisitorFactory) -> Visitor:
    """Somebody who looks at these runs."""
    return open_browser(viewer.base)


def make_world(folder: Path) -> World:
    alpha = write_sums(folder, "alpha", tasks=TASKS)
    beta = write_sums(folder, "beta", tasks=TASKS, shift=2)
    gamma = _write_gamma(folder)
    others = (str(beta.rollouts), str(gamma.rollouts))
    profiled(alpha, *others, "--allow-partial", "--slice-by", "category")
    world = World(alpha, beta, gamma)
    # stored, so that the queries of the comparison give rows
    with contextlib.closing(open_scratch("1GB", folder / "spill")) as connection:
        build_comparisons(
            connection,
            world.warehouse,
            [Pair(world.a, world.b)],
            ComparisonSettings(),
            progress=lambda _: None,
        )
    return world


def write_sums(folder: Path, name: str, *, tasks: int, shift: int = 0) -> Profiled:
    """A run of sums with everything that a page can show."""
    keys = [(task, index) for task in range(tasks) for index in range(REPEATS)]
    rollouts = [sum_rollout(task, index, shift=shift) for task, index in keys]
    run = write_run(folder, rollouts, inputs=[sum_input(*one) for one in keys], name=name)
    failures = [
        key(task, 0, _ng_failure_class=kind, _ng_attempt_index=0)
        for task in range(0, tasks, 9)
        for kind in ("timeout", "http_5xx")[: 1 + task % 2]
    ]
    write_lines(run.failures, failures)
    return run


def _write_gamma(folder: Path) -> Profiled:
    """Two agents and missing rollouts, in files that are old: nobody collects them any more."""
    agents = {task: {"name": ("first", "second")[task % 2]} for task in range(6)}
    keys = [(task, index) for task in agents for index in range(2)]
    inputs = [{**sum_input(*one), "agent_ref": agents[one[0]]} for one in keys]
    rollouts = [{**sum_rollout(*one), "agent_ref": agents[one[0]]} for one in keys[:-3]]
    run = write_run(folder, rollouts, inputs=inputs, name="gamma")
    for path in (run.rollouts, run.inputs):
        os.utime(path, (time.time() - 7200,) * 2)
    return run


def sum_input(task: int, index: int) -> Row:
    return key(
        task,
        index,
        responses_create_params=_asked(task),
        category="algebra" if task % 2 else "geometry",
        expected_answer=str(2 * task + 1),
    )


def sum_rollout(task: int, index: int, *, shift: int = 0) -> Row:
    reward = reward_of(task, index, shift=shift)
    answer = 2 * task + 1 if reward == 1 else task - index
    arguments = f'{{"a": {task}, "b": {task + 1}, "note": "first line\\nsecond line {index}"}}'
    said = f"The sum is {answer}, says attempt {index}."
    output = [
        thinks(f"I have to add {task} and {task + 1} in attempt {index}."),
        calls(arguments, name="add_numbers", call_id=f"call_{index}"),
        {"type": "function_call_output", "call_id": f"call_{index}", "output": str(answer)},
        says(said if task != 6 else said + "\n" + "All of it again and again.\n" * 400),
    ]
    tokens = 40 + (task * 17 + index * 41) % 500
    usage = {
        "input_tokens": 100 + task,
        "output_tokens": tokens,
        "total_tokens": 100 + task + tokens,
    }
    is_cut = (task, index) in ((4, 3), (11, 3))
    cut = {"incomplete_details": {"reason": "max_output_tokens"}} if is_cut else {}
    return {
        **sum_input(task, index),
        "reward": reward,
        "extracted_answer": str(answer),
        "verifier_note": f"compared {answer} with {2 * task + 1}",
        "response": {"id": f"resp_{task}_{index}", "output": output, "usage": usage, **cut},
    }


def reward_of(task: int, index: int, *, shift: int = 0) -> float:
    passes = max(0, task * 7 % (REPEATS + 1) - (shift if task % 3 else -1))
    return 1.0 if index < passes else 0.5 if task % 10 == 3 else 0.0


def _asked(task: int) -> Row:
    animal = "pangolin" if task in (17, 101) else "badger"
    text = f"Question {task} of the {animal}: what is {task} plus {task + 1}?"
    content: Any = text
    if task == 5:
        image = {"type": "input_image", "image_url": image_url()}
        content = [{"type": "input_text", "text": text}, image]
    return {
        "input": [
            {"role": "system", "content": "You add numbers with the tool, and nothing else."},
            {"role": "user", "content": content},
        ],
        "temperature": 0.7,
        "top_p": 0.95,
        "tools": [
            {
                "type": "function",
                "name": "add_numbers",
                "description": "Add two numbers.",
                "parameters": {"type": "object", "properties": {"a": {"type": "number"}}},
            }
        ],
    }


def image_url() -> str:
    """A small blue square."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(b"\x00" + b"\x20\x60\xc0" * 48 for _ in range(48))
    head = struct.pack(">IIBBBBB", 48, 48, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    data += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def is_drawn(page: Page, selector: str) -> bool:
    """Tell whether there is more than one colour on a canvas."""
    return bool(
        page.eval_on_selector(
            selector,
            """(canvas) => {
                const {width, height} = canvas;
                if (!width || !height) return false;
                const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
                const seen = new Set(new Uint32Array(pixels.buffer));
                return seen.size > 3;
            }""",
        )
    )


def is_within_width(page: Page) -> bool:
    """Tell whether a page has to be scrolled sideways."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"))


def column(page: Page, label: str) -> list[str]:
    """What a column of the table says, row by row, once all of its page is there."""
    page.wait_for_load_state()
    head = page.locator("table.listing thead tr").first.locator("th").all_text_contents()
    at = next(place for place, text in enumerate(head) if text.strip(" ▲▼\n").startswith(label))
    cells = page.locator(f"table.listing tbody tr > :nth-child({at + 1})")
    return [" ".join(text.split()) for text in cells.all_text_contents()]
