"""The viewer shows imported rollouts like its own: nothing of a log is dropped."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from collector.viewer.pages import rollout as rollout_page
from collector.viewer.pages import rollouts as rollouts_page
from collector.viewer.pages import task as task_page
from collector.viewer.pages import tasks as tasks_page
from tests.imports import OWN, import_case
from tests.pages import app_of, get
from tests.programs import run_command

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
CHAT = [
    {"role": "system", "content": "You look at pictures."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": PIXEL}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I should zoom in.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "zoom", "arguments": '{"by": 4}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a grey dot"},
    {"role": "assistant", "content": "A grey dot."},
]


def page_of(folder: Path, *, task: int = 0) -> str:
    """The page of the first rollout of a task."""
    profile(folder)
    app = app_of(folder / "warehouse.duckdb", rollout_page.ROUTES)
    found = get(app, f"/rollout?run=imported&task={task}&rollout=0")
    assert found.status_code == 200
    return unescape(found.text)


def profile(folder: Path) -> None:
    words = ("profile", "run.jsonl", "--allow-partial", "--run-id", "imported")
    done = run_command("spotter", *words, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_messages_tools_reasoning_images_and_scores_are_shown(tmp_path: Path) -> None:
    row = {"chat": CHAT, "score": 0.5, "style": 0.25, "gold": "a dot", "judge": {"said": "fair"}}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    mapping = "reward: score\nmessages: chat\nanswer: gold\nmetrics: [style]\n"
    (tmp_path / "mapping.yml").write_text(mapping, encoding="utf-8")
    import_case(tmp_path / "mine.jsonl", tmp_path / "run.jsonl", "--from", "mapping.yml")
    page = page_of(tmp_path)
    assert f'src="{PIXEL}"' in page
    for text in (
        *("You look at pictures.", "What is this?", "I should zoom in.", "zoom", '"by"'),
        *("a grey dot", "A grey dot.", "0.5", "style", "0.25", "a dot", "fair"),
    ):
        assert text in page, text
    assert "the file has no result for this call" not in page


@pytest.mark.parametrize(
    ("case", "texts"),
    [
        ("verl/sessions", ("Name a prime above 20.", "23", "earlier_outputs", "still thinking")),
        ("lm_eval/capitals", ("What is the capital of France?", "=> Lyon", "exact_match_loose")),
        ("nemo_evaluator/broken", ("Spell two backwards.", "owt", "category", "even")),
        (
            "verifiers/riddles",
            ("Riddle 0? (summary)", "Try again.", "a wrong path", "Is it right?", "words"),
        ),
        ("verifiers/legacy", ("Say 0.", "It says zero.", "said")),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_a_format_has_is_on_the_page(
    case: str, texts: tuple[str, ...], tmp_path: Path
) -> None:
    import_case(OWN / case, tmp_path / "run.jsonl")
    page = page_of(tmp_path, task=1 if case == "verl/sessions" else 0)
    assert [text for text in texts if text not in page] == []


@pytest.mark.parametrize(
    "address",
    [
        "/task?task=0",
        "/rollout?task=0&rollout=0",
        "/tasks?q=A_B",
        "/tasks?f.task_name=a_b&sort=-task_name",
        "/rollouts?q=A_B",
        "/rollouts?f.task_name=a_b&sort=-task_name",
    ],
)
def test_pages_show_and_find_the_name_that_a_task_was_imported_with(
    address: str, tmp_path: Path
) -> None:
    import_case(OWN / "verl" / "sessions", tmp_path / "run.jsonl")
    profile(tmp_path)
    pages = (task_page, rollout_page, tasks_page, rollouts_page)
    app = app_of(tmp_path / "warehouse.duckdb", [one for page in pages for one in page.ROUTES])
    html = get(app, f"{address}&run=imported").text
    assert "a_b</" in html
    assert '">c</td>' not in html  # the other task
