"""Models that attack whoever reads them: whatever they write is shown, and does nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Page, expect

from tests.browser import PHONE, Visitor, VisitorFactory, is_within_width
from tests.programs import run_command
from tests.responses import calls, says, thinks
from tests.support import Profiled, Row, key, profiled, write_lines, write_run
from tests.viewers import Watched, viewing

RUN = "<script>window.pwned=1</script>\"'><img src=x onerror=window.pwned=1>\u202egnp {{7*7}}"
ELSEWHERE = "http://127.0.0.1:1"
LONG = "w" * 20_000
HUGE = 50_000_000
NEST = 150  # a profile refuses much deeper ones where others are not finite
ATTACKS = {
    "script": "<script>window.pwned=1</script>",
    "handler": '"><img src=x onerror=window.pwned=1>',
    "attribute": "' onmouseover='window.pwned=1' autofocus onfocus='window.pwned=1",
    "link": "javascript:window.pwned=1",
    "markdown": f"[click](javascript:window.pwned=1) ![x]({ELSEWHERE}/x.png) <{ELSEWHERE}>",
    "svg": "<svg onload=window.pwned=1><script>window.pwned=1</script></svg>",
    "frame": '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
    "end of a script": "</script><script>window.pwned=1</script>",
    "comment": "<!--<script>",
    "end of a style": "</style><style>* { display: none }</style>",
    "end of a field": "</textarea></title></option></select><script>window.pwned=1</script>",
    "redirect": f'<meta http-equiv="refresh" content="0;url={ELSEWHERE}/">',
    "base": f'<base href="{ELSEWHERE}/"><link rel=stylesheet href="{ELSEWHERE}/x.css">',
    "form": f'<form action="{ELSEWHERE}/"><input name=run autofocus></form>',
    "template": "{{7*7}}{% raw %}{{ config }}${7*7}",
    "entities": "&lt;script&gt;&amp;&#x27;&nbsp",
    "sql": "'; drop table runs; -- \\",
    "address": "%00%ff%3Cscript%3E&run=x#y?task=1/../../etc/passwd",
    "ansi": "\x1b[31mred\x1b]0;title\x07",
    "right to left": "\u202egnp.exe\u202c",
    "isolates": "\u2067abc\u2069\u200f",
    "controls": "a\x00b\x01c\x9bd\x7fe",
    "half a pair": "x\ud800y\udc00z",
    "line ends": "a\u2028b\u2029c",
    "zero width": "a\u200bb\ufeffc",
}
# a page is dear, so each shows several of them in one text; an address has to stand alone
GROUPS: dict[str, tuple[str, ...]] = {
    "markup": ("script", "handler", "attribute", "markdown", "svg", "frame"),
    "ends": ("end of a script", "end of a style", "end of a field", "template", "comment"),
    "elsewhere": ("redirect", "base", "form", "entities", "sql"),
    "link": ("link",),
    "address": ("address",),
    "hidden": (
        *("ansi", "right to left", "isolates", "controls", "half a pair", "line ends"),
        "zero width",
    ),
}
TEXTS = {
    **{name: " ".join(ATTACKS[one] for one in group) for name, group in GROUPS.items()},
    "long word": LONG,
}
IMAGES = (
    f"{ELSEWHERE}/x.png",
    "//127.0.0.1:1/x.png",
    "/static/icon.svg",
    "javascript:window.pwned=1",
    "file:///etc/passwd",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='parent.pwned=1'/>",
    "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+",
    "data:text/html,<script>window.pwned=1</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    'data:image/png;base64,iVBORw0KGgo=" onerror="window.pwned=1',
    "data:image/png;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
HALVES = "[\ud800-\udfff]"
NAMES = list(TEXTS)
UNASKED = ("response", "reward", "nest", "score", "least")
IMAGES_TASK, HUGE_TASK, DEEP_TASK, ENDLESS_TASK = range(len(TEXTS), len(TEXTS) + 4)


def test_every_attack_is_in_a_text() -> None:
    assert sorted(one for group in GROUPS.values() for one in group) == sorted(ATTACKS)


def hostile_input(task: int, index: int, text: str) -> Row:
    images = [{"type": "input_image", "image_url": text}]
    content = [{"type": "input_text", "text": text}, *images]
    params = {
        "instructions": text,
        "input": [{"role": "system", "content": text}, {"role": "user", "content": content}],
        "tools": [{"name": text, "description": text, "parameters": {text: text}}],
        "metadata": {text: text},
        "model": text,
    }
    fields = {"category": text, "expected_answer": text, "agent_ref": {"name": text}}
    return key(task, index, responses_create_params=params, **fields)


def hostile_rollout(task: int, index: int, text: str) -> Row:
    output = [
        thinks(text),
        calls(json.dumps({text: text}), name=text, call_id=text),
        {"type": "function_call_output", "call_id": text, "output": text},
        {"type": text, text: text},
        {"type": "message", "role": text, "content": text},
        says(f"{text} {index}"),
    ]
    usage = {"output_tokens": 10 * task + index, text: text}
    return {
        **hostile_input(task, index, text),
        "reward": float(index),
        "extracted_answer": text,
        f"field {text[:300]}": text,
        "response": {"id": text, "output": output, "usage": usage, "error": {"message": text}},
    }


def nested(depth: int) -> Any:
    found: Any = "the end"
    for _ in range(depth):
        found = [found]
    return found


def odd_rollouts() -> Iterator[Row]:
    """Images that are none, a text that fills a memory, a nest without an end."""
    pictures: list[Row] = [{"type": "input_image", "image_url": url} for url in IMAGES]
    pictures += [{"type": "image_url", "image_url": {"url": url}} for url in IMAGES]
    asked = {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}, *pictures]}]
    }
    nest, deep = nested(NEST), json.dumps({"nest": nested(500)})
    for index in range(2):
        seen = {"type": "function_call_output", "call_id": "c", "output": pictures}
        look = calls("{}", name="look", call_id="c")
        yield key(
            IMAGES_TASK, index, responses_create_params=asked, reward=1.0,
            response={"output": [look, seen, says("seen")], "usage": {"output_tokens": 1}},
        )  # fmt: skip
        huge = ("<b>& " * (HUGE // 5)) if index else "short"
        yield key(
            HUGE_TASK, index, reward=0.0,
            response={"output": [says(huge)], "usage": {"output_tokens": 1}},
        )  # fmt: skip
        yield key(
            DEEP_TASK, index, reward=0.0, nest=nest,
            response={"output": [calls(deep), {"nest": nest}], "usage": nest},
        )  # fmt: skip

        yield key(
            ENDLESS_TASK, index, reward=1.0, score=float("nan"), least=float("-inf"),
            response={"output": [says("no number")], "usage": {"output_tokens": 3}},
        )  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    keys = [(task, index, text) for task, text in enumerate(TEXTS.values()) for index in range(2)]
    odd = list(odd_rollouts())
    inputs = [hostile_input(*one) for one in keys] + [
        {name: row[name] for name in row if name not in UNASKED} for row in odd
    ]
    rollouts = [*(hostile_rollout(*one) for one in keys), *odd]
    run = write_run(tmp_path_factory.mktemp("hostile"), rollouts, inputs=inputs)
    failures = [
        key(task, 0, _ng_failure_class=text, agent_ref={"name": text}, error=text)
        for task, text in enumerate(TEXTS.values())
    ]
    write_lines(run.failures, failures)
    return renamed(profiled(run, "--slice-by", "category"))


def renamed(run: Profiled) -> Profiled:
    """Give a run a name that no command accepts, as another program could."""
    with duckdb.connect(str(run.warehouse)) as connection:
        tables = connection.execute(
            "select tables.table_name from duckdb_tables() as tables"
            " inner join duckdb_columns() as columns using (table_oid)"
            " where column_name = 'run_id'"
        ).fetchall()
        for (table,) in tables:
            connection.execute(f"update {table} set run_id = ?", [RUN])
    return run


@pytest.fixture(scope="module")
def hostile_viewer(hostile: Profiled) -> Iterator[Watched]:
    with viewing(hostile.warehouse, cwd=hostile.warehouse.parent) as watched:
        yield watched


@pytest.fixture
def reader(hostile_viewer: Watched, open_browser: VisitorFactory) -> Visitor:
    return open_browser(hostile_viewer.base)


def literally(text: str) -> str:
    """How a page shows a text."""
    return HIDDEN.sub(lambda match: f"U+{ord(match[0]):04X}", text)


def kept(text: str) -> str:
    """How a page shows what the warehouse keeps of a text, which cannot hold half a pair."""
    return literally(re.sub(HALVES, "\ufffd", text))


def shown(page: Page, within: str = "main") -> str:
    """All texts of a page, also those that are folded."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return page.locator(within).inner_text()


def settle(page: Page) -> None:
    """Give what would run the time to do it; touch everything."""
    page.evaluate(
        """() => {
            for (const one of [...document.querySelectorAll("main *")].slice(0, 300)) {
                one.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
                one.scrollIntoView?.();
            }
        }"""
    )
    page.wait_for_timeout(50)
    foreign = page.evaluate(
        """() => [...document.querySelectorAll("[href], [src], [action], [srcdoc], [formaction]")]
            .map((one) => one.href?.baseVal ?? one.href ?? one.src ?? one.action)
            .filter((address) => !String(address).startsWith(location.origin) &&
                !String(address).startsWith("data:image/png;base64,"))"""
    )
    assert foreign == []
    handlers = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((one) =>
            one.getAttributeNames().some((name) => name.startsWith("on") || name === "style")
            && !one.matches("canvas, .listing > thead") && !one.closest(".canvas"))
            .map((one) => one.outerHTML)"""
    )
    assert handlers == []


@pytest.mark.parametrize("name", NAMES)
def test_a_rollout_is_shown_literally_and_does_nothing(name: str, reader: Visitor) -> None:
    task, text = NAMES.index(name), TEXTS[name]
    reader.open("/rollout", run=RUN, task=task, rollout=1)
    page = reader.page
    settle(page)
    if name == "long word":
        assert LONG[:1000] in shown(page, ".transcript")
        return
    wanted = literally(text)
    talk = " ".join(shown(page, ".transcript").split())
    # instructions, system, user, reasoning, call, result, message without a role, last words
    assert talk.count(" ".join(wanted.split())) >= 8, talk
    aside = " ".join(shown(page, ".rollout-aside").split())
    assert aside.count(" ".join(wanted.split())) >= 5, aside
    assert page.locator(".hidden-char").count() >= 8 or not HIDDEN.search(text)
    assert kept(text) in page.locator(".figures").inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_shown_literally_and_does_nothing(name: str, reader: Visitor) -> None:
    task, text = NAMES.index(name), TEXTS[name]
    reader.open("/task", run=RUN, task=task, a=0, b=1)
    page = reader.page
    settle(page)
    wanted = literally(text) if name != "long word" else LONG[:1000]
    assert kept(text)[:1000] in shown(page, "section.prompt")
    assert wanted in shown(page, ".cards")
    assert wanted in shown(page, ".comparison")
    page.locator(".choose button").click()
    page.wait_for_url("**/task?**")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Task {task}")


@pytest.mark.parametrize("name", NAMES)
def test_the_run_of_an_agent_is_shown_literally_and_does_nothing(
    name: str, reader: Visitor
) -> None:
    text = TEXTS[name]
    page = reader.page
    reader.open("/run", run=RUN, agent=re.sub(HALVES, "\ufffd", text))
    settle(page)
    body = shown(page)
    wanted = kept(text)[: 60 if text == LONG else None]
    assert f"Scores of {wanted}" in body
    assert wanted in page.locator("section[aria-labelledby=failures]").inner_text()
    assert page.get_by_role("heading", level=1).inner_text() == literally(RUN)


TABLES = {
    "runs": ("/", {}),
    "tasks": ("/tasks", {"run": RUN}),
    "rollouts": ("/rollouts", {"run": RUN}),
    "compare": ("/compare", {"a": RUN, "b": RUN}),
    "curate": ("/curate", {"run": RUN}),
    "all of the tasks": ("/sql", {"q": "select * from task_profiles"}),
    "all of the rollouts": ("/sql", {"q": "select * from rollout_infos"}),
    "all of the failures": ("/sql", {"q": "select * from failure_classes"}),
    "all of the scores": ("/sql", {"q": "select * from agent_scores"}),
    "a query": ("/sql", {"q": f"select '{ATTACKS['end of a field']}' as \"{ATTACKS['script']}\""}),
}


@pytest.mark.parametrize(("path", "values"), TABLES.values(), ids=TABLES)
def test_a_table_is_shown_literally_and_does_nothing(
    path: str, values: dict[str, str], reader: Visitor
) -> None:
    reader.open(path, values)
    settle(reader.page)
    assert "<script>window.pwned=1</script>" in shown(reader.page)
    assert "49" not in reader.page.title()


def test_a_table_of_a_run_with_an_odd_name_is_filtered(reader: Visitor) -> None:
    page = reader.page
    reader.open("/tasks", run=RUN)
    page.get_by_role("searchbox").fill("iframe")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=iframe**")
    expect(page.locator("table.listing tbody tr")).to_have_count(1)


def test_an_agent_with_an_odd_name_is_chosen(reader: Visitor) -> None:
    page = reader.page
    reader.open("/run", run=RUN, agent="javascript:window.pwned=1")
    page.get_by_label("Agent").select_option(index=NAMES.index("hidden"))
    page.wait_for_url("**agent=**")
    expect(page.get_by_role("heading", level=1)).to_have_text(literally(RUN))


def test_only_images_that_are_part_of_a_rollout_are_shown(reader: Visitor) -> None:
    reader.open("/rollout", run=RUN, task=IMAGES_TASK, rollout=0)
    page = reader.page
    settle(page)
    notes = page.locator(".no-image").all_inner_texts()
    assert len(notes) == 4 * len(IMAGES)
    assert page.locator("main img").count() == 0
    for url in IMAGES:
        assert any(url[:60] in note for note in notes), url


def test_a_huge_text_leaves_its_page_small(reader: Visitor, hostile_viewer: Watched) -> None:
    answer = hostile_viewer.get("/rollout", params={"run": RUN, "task": HUGE_TASK, "rollout": 1})
    assert answer.status_code == 200
    assert len(answer.content) < 2_000_000
    reader.open("/rollout", run=RUN, task=HUGE_TASK, rollout=1)
    settle(reader.page)
    expect(reader.page.get_by_role("link", name="Show all 50,000,000 characters")).to_be_visible()
    reader.open("/task", run=RUN, task=HUGE_TASK, a=0, b=1)
    assert len(reader.page.content()) < 2_000_000


def test_a_huge_text_can_be_had_in_full(hostile_viewer: Watched) -> None:
    part = "/response/output/0/content/0/text"
    values = {"run": RUN, "task": HUGE_TASK, "rollout": 1, "part": part}
    answer = hostile_viewer.get("/rollout/text", params=values)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.text) == HUGE


def test_the_raw_json_of_a_huge_text_is_opened(reader: Visitor) -> None:
    reader.open("/rollout", run=RUN, task=HUGE_TASK, rollout=1)
    reader.page.get_by_text("Show the raw JSON").click()
    expect(reader.page.get_by_text("This is the beginning")).to_be_visible(timeout=30_000)
    assert len(reader.page.locator("details.raw pre").text_content() or "") < 5_000_000


def test_a_deep_nest_is_survived(reader: Visitor) -> None:
    reader.open("/rollout", run=RUN, task=DEEP_TASK, rollout=0)
    settle(reader.page)
    expect(reader.page.get_by_role("heading", name="Conversation")).to_be_visible()
    reader.open("/task", run=RUN, task=DEEP_TASK, a=0, b=1)
    settle(reader.page)


def test_values_that_are_not_finite_are_shown(reader: Visitor) -> None:
    reader.open("/rollout", run=RUN, task=ENDLESS_TASK, rollout=0)
    expect(reader.page.locator(".transcript")).to_contain_text("no number")
    assert re.search(r"score\s+nan", shown(reader.page, ".rollout-aside"), re.IGNORECASE)


@pytest.mark.parametrize("path", ["/rollout", "/task", "/run", "/tasks", "/rollouts"])
def test_long_words_do_not_make_a_page_wide(
    path: str, hostile_viewer: Watched, open_browser: VisitorFactory
) -> None:
    visitor = open_browser(hostile_viewer.base, viewport=PHONE)
    values: dict[str, Any] = {"task": NAMES.index("long word"), "a": 0, "b": 1, "rollout": 1}
    visitor.open(path, run=RUN, agent=LONG if path == "/run" else "", **values)
    shown(visitor.page)
    assert is_within_width(visitor.page)


@pytest.mark.parametrize("name", NAMES)
def test_raw_rollouts_are_nothing_but_text(name: str, hostile_viewer: Watched) -> None:
    values = {"run": RUN, "task": NAMES.index(name), "rollout": 0}
    raw = hostile_viewer.get("/rollout/raw", params=values)
    assert raw.headers["content-type"] == "application/json"
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in raw.headers["content-security-policy"]
    assert json.loads(raw.text)["extracted_answer"] == TEXTS[name]
    part = "/responses_create_params/instructions"
    text = hostile_viewer.get("/rollout/text", params={**values, "part": part})
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.headers["x-content-type-options"] == "nosniff"
    assert text.text == re.sub(HALVES, "\ufffd", TEXTS[name])


def test_raw_rollouts_do_nothing_in_the_browser(reader: Visitor) -> None:
    for name in ("markup", "elsewhere"):
        task = NAMES.index(name)
        reader.open("/rollout/raw", run=RUN, task=task, rollout=0)
        reader.check()
        part = "/responses_create_params/instructions"
        reader.open("/rollout/text", run=RUN, task=task, rollout=0, part=part)
        assert reader.page.locator("body").inner_text() == TEXTS[name]
        reader.check()


def test_a_report_of_it_does_nothing(hostile: Profiled, open_browser: VisitorFactory) -> None:
    folder = hostile.warehouse.parent
    result = run_command("spotter", "report", RUN, "--rollouts", "100", cwd=folder)
    assert result.returncode == 0, result.stderr
    report = folder / "report.html"
    assert report.stat().st_size < 20_000_000
    visitor = open_browser(report.as_uri())
    visitor.page.goto(report.as_uri())
    body = shown(visitor.page)
    for name, text in TEXTS.items():
        assert literally(text)[:500] in body, name
    visitor.page.wait_for_timeout(300)
