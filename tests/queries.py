"""Provide a warehouse for the SQL page, and read the messages of the page."""

from __future__ import annotations

import html
import re
from pathlib import Path

import httpx

from tests.support import Profiled, key, profiled, write_run
from tests.viewers import Watched

SECRET = "hunter2"  # noqa: S105


def make_queried(folder: Path) -> Profiled:
    """Profile a small run beside a file that queries must not read."""
    rows = [key(t, 0, reward=t / 4, note="<b>x</b>") for t in range(3)]
    made = profiled(write_run(folder, rows, inputs=[key(t, 0, q="q") for t in range(3)]))
    (folder / "secret.csv").write_text(f"a,b\n{SECRET},2\n", encoding="utf-8")
    return made


def ask(viewer: Watched, query: str, **given: dict[str, str]) -> httpx.Response:
    return viewer.get("/sql", params={"q": query}, **given)


def message(answer: httpx.Response) -> str:
    """Return the error message of the page."""
    found = re.search(r'<pre class="message"[^>]*>(.*?)</pre>', answer.text, re.DOTALL)
    assert found, answer.text
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))
