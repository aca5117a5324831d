"""The site of `make docs`: every page is there, every link leads somewhere, nothing is loaded."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import LAPTOP, PHONE, SCREENSHOTS, VisitorFactory, is_within_width
from tests.dbt_process import Dbt
from tests.support import ROOT

TOP_PAGES = {"index", "CONTRIBUTING", "SECURITY", "CHANGELOG", "LICENSE"}
PAGES = TOP_PAGES | {path.stem for path in (ROOT / "docs").glob("*.md")}
SIZES: dict[str, ViewportSize] = {
    "laptop": {"width": LAPTOP["width"], "height": LAPTOP["height"]},
    "phone": {"width": PHONE["width"], "height": PHONE["height"]},
}
# what a browser loads by itself, and from where
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
    "use": "xlink:href",
}
SEARCHED = "unbiased"
INDEX_MS = 30_000  # the index is read when somebody first searches
LISTS_IN_TEXT = r"<p>(?:(?!</p>).)*\n(?:[-*] |\d+\. |\|)"


def mkdocs(root: Path, *, page: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make docs` does: in a process of its own, whose warnings are its own."""
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("mkdocs")), "build", "--strict"),
            *("--config-file", str(root / "docs" / "site" / "mkdocs.yml")),
            *("--site-dir", str(site)),
        ],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "SPOTTER_DBT_PAGE": str(page)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def dbt_page(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """dbt's page of the models as they are written: without a warehouse, so without their types."""
    folder = tmp_path_factory.mktemp("dbt")
    words = ("docs", "generate", "--static", "--empty-catalog")
    made = dbt(*words, warehouse=folder / "warehouse.duckdb")
    assert made.returncode == 0, made.stdout
    return folder / "target" / "static_index.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, dbt_page: Path) -> Path:
    """The folder with the site."""
    folder = tmp_path_factory.mktemp("made") / "site"
    built = mkdocs(ROOT, page=dbt_page, site=folder)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return folder


class Quiet(SimpleHTTPRequestHandler):
    """Any static web server."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def hosted(site: Path) -> Iterator[str]:
    """The site on a server, below its root."""
    handler = functools.partial(Quiet, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{site.name}"
        server.shutdown()
        thread.join()


@dataclass
class Parsed(HTMLParser):
    """What a page has that can be linked to, and what it links to and loads."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    headings: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.update(value for name in ("id", "name") if (value := values.get(name)))
        self.headings += tag == "h1"
        if tag == "a" and (href := values.get("href")) is not None:
            self.links.append(href)
        if loaded := values.get(LOADED.get(tag, "")):
            self.loads.append(loaded)


@pytest.fixture(scope="module")
def parsed(site: Path) -> dict[Path, Parsed]:
    """All pages but dbt's, which makes its links itself."""
    return {path: Parsed(path) for path in site.glob("*.html")}


def missing(link: str, page: Parsed, pages: dict[Path, Parsed], *, site: Path) -> bool:
    """Tell whether a link of a page leads nowhere."""
    parts = urlsplit(link)
    target = page.path
    if parts.path:
        target = (page.path.parent / unquote(parts.path)).resolve()
        target = target / "index.html" if target.is_dir() else target
    if not (target.is_file() and target.is_relative_to(site)):
        return True
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].ids


def test_every_page_is_there_with_one_title(parsed: dict[Path, Parsed], site: Path) -> None:
    assert {path.stem for path in parsed} == PAGES
    assert [page.path.name for page in parsed.values() if page.headings != 1] == []
    assert (site / "dbt" / "index.html").is_file()
    assert not list(site.glob("*.xml"))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_leads_to_every_other(page: str, parsed: dict[Path, Parsed], site: Path) -> None:
    links = set(parsed[site / f"{page}.html"].links)
    others = {f"{name}.html" for name in PAGES - {page, "index"}}
    assert others | {"index.html", "dbt/index.html"} <= links


def test_every_link_leads_somewhere(parsed: dict[Path, Parsed], site: Path) -> None:
    dead = [
        f"{page.path.name}: {link}"
        for page in parsed.values()
        for link in [*page.links, *page.loads]
        if not link.startswith(("https://", "http://"))
        if missing(link, page, parsed, site=site)
    ]
    assert dead == []


def test_nothing_comes_from_elsewhere(parsed: dict[Path, Parsed]) -> None:
    foreign = [
        f"{page.path.name}: {loaded}"
        for page in parsed.values()
        for loaded in page.loads
        if urlsplit(loaded).scheme or loaded.startswith("/")
    ]
    assert foreign == []


def test_no_list_is_taken_for_text(site: Path) -> None:
    """GitHub needs no blank line before a list, MkDocs does."""
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8").split("<article", 1)[1].split("</article>")[0]
        assert not re.findall(LISTS_IN_TEXT, text, re.DOTALL), path.name


def test_no_path_of_this_machine_is_told(site: Path, dbt_page: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in (".html", ".json", ".js"):
            text = path.read_text(encoding="utf-8")
            for folder in (ROOT, site.parent, dbt_page.parent):
                assert f"{folder}/" not in text, f"{folder} in {path.name}"


def test_mistakes_end_the_build(tmp_path: Path, dbt_page: Path) -> None:
    docs = shutil.copytree(ROOT / "docs", tmp_path / "docs")
    icon = Path("collector", "viewer", "static", "icon.svg")
    (tmp_path / icon).parent.mkdir(parents=True)
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", icon):
        shutil.copy(ROOT / name, tmp_path / name)
    with (docs / "gym.md").open("a", encoding="utf-8") as page:
        page.write("\n[1](no-page.md) [2](viewer.md#no-anchor) [3](../NO-FILE.md)\n")
    with (tmp_path / "README.md").open("a", encoding="utf-8") as page:
        page.write("\n[4](docs/no-doc.md)\n")
    (docs / "no-place.md").write_text("# Not in the navigation\n", encoding="utf-8")
    built = mkdocs(tmp_path, page=dbt_page, site=tmp_path / "site")
    assert built.returncode == 1
    for mistake in ("no-page.md", "#no-anchor", "NO-FILE.md", "no-doc.md", "no-place.md"):
        assert mistake in built.stderr
    assert built.stderr.count("WARNING") == 5, built.stderr


def test_without_the_page_of_dbt_it_says_what_to_do(tmp_path: Path) -> None:
    built = mkdocs(ROOT, page=tmp_path / "none.html", site=tmp_path / "site")
    assert built.returncode == 1
    assert "make docs" in built.stderr
    assert "Traceback" not in built.stderr


@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_their_screen_by_day_and_night(
    hosted: str, open_browser: VisitorFactory, size: str
) -> None:
    visitor = open_browser(hosted, viewport=SIZES[size])
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for page in ("index", "statistics", "commands"):
        visitor.open(f"/{page}.html")
        expect(visitor.page.locator("h1")).to_be_visible()
        for theme in themes:
            visitor.page.emulate_media(color_scheme=theme)
            scheme = {"light": "default", "dark": "slate"}[theme]
            expect(visitor.page.locator("body")).to_have_attribute("data-md-color-scheme", scheme)
            assert is_within_width(visitor.page)
            _shoot(visitor.page, f"{page}-{size}-{theme}")


@pytest.mark.parametrize("place", ["hosted", "on_disk"])
def test_the_way_through_the_site(
    place: str, hosted: str, site: Path, open_browser: VisitorFactory
) -> None:
    """From the README to a page, by the search to another, to the models and back."""
    visitor = open_browser(hosted if place == "hosted" else site.as_uri())
    page = visitor.page
    visitor.open("/index.html")
    page.get_by_role("link", name="collecting", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Collecting rollouts")
    page.wait_for_load_state()  # until then nobody listens to what is typed
    # key by key: it looks when a key is let go, and a text that is put in whole has none
    page.get_by_role("textbox", name="Search").press_sequentially(SEARCHED)
    hit = page.locator(".md-search-result__link[href*='#passk-pass_at_k']")
    expect(hit).to_be_visible(timeout=INDEX_MS)
    _shoot(page, f"search-{place}")
    hit.click()
    expect(page.locator("h1")).to_contain_text("The statistics")
    expect(page.locator("mark").first).to_have_text(SEARCHED)
    page.get_by_role("link", name="Models and columns").click()
    _look_at_the_models(page, place)
    page.get_by_role("link", name="what each figure means").click()
    expect(page.locator("h1")).to_contain_text("The statistics")


def _look_at_the_models(page: Page, place: str) -> None:
    """Find a model in dbt's page, see its columns and its lineage, and come back."""
    expect(page.get_by_role("heading", name="The models")).to_be_visible()
    expect(page).to_have_title("Models and columns - Spotter")
    expect(page.locator(".filename-normal use[href='#icn-dir']").first).to_be_attached()
    _shoot(page, f"models-{place}")
    page.get_by_placeholder("Search for models").fill("task_bands")
    page.locator("h4", has_text=re.compile(r"^\s*task_bands\s+model")).click()
    expect(page.get_by_role("heading", name="task_bands")).to_be_visible()
    expect(page.get_by_text("learnability", exact=True).first).to_be_visible()
    page.locator("[ng-click='onLauncherClick()']").click()
    expect(page.get_by_text("Lineage Graph", exact=True)).to_be_visible()
    _shoot(page, f"lineage-{place}")
    page.locator("[ng-click='closeGraph()']:visible").click()
    page.get_by_role("link", name="Overview").click()


def _shoot(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"docs-{name}.png")
