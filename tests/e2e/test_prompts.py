"""The prompt of a task is what Python would take from its input, however that is written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.support import Profiled, Row, key, profiled, write_run

TEXTS = (
    "",
    " ",
    "a",
    "two\nlines",
    'say "hi"\\',
    "nul\x00byte",
    "\U0001f600 é\u2028",
    "null",
    "[]",
)
OTHERS: tuple[Any, ...] = (None, 7, 2.5, True, {}, [], {"text": "object"}, ["text"])


def asked(params: Any) -> str | None:
    """What the agent is asked."""
    given = params.get("input") if isinstance(params, dict) else None
    if isinstance(given, str):
        return given or None
    texts = [
        content_text(message.get("content"))
        for message in (given if isinstance(given, list) else [])
        if isinstance(message, dict)
        and message.get("type") in (None, "message")
        and message.get("role") not in ("system", "developer")
    ]
    return "\n\n".join(filter(None, texts)) or None


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if text and isinstance(text, str))


def either(rng: random.Random, usual: Any) -> Any:
    """Something usual, and now and then something else."""
    return rng.choice(OTHERS) if rng.random() < 0.15 else usual


def random_part(rng: random.Random) -> Row:
    part = {"type": rng.choice(["input_text", "output_text", "input_image"])}
    return {**part, rng.choice(["text", "text", "refusal"]): either(rng, rng.choice(TEXTS))}


def random_message(rng: random.Random) -> Row:
    parts = [either(rng, random_part(rng)) for _ in range(rng.randrange(4))]
    message = {
        "type": either(rng, rng.choice(["message", "message", "reasoning", "function_call"])),
        "role": either(rng, rng.choice(["user", "user", "assistant", "system", "developer"])),
        "content": either(rng, rng.choice([rng.choice(TEXTS), parts])),
    }
    return {name: value for name, value in message.items() if rng.random() < 0.8}


def random_params(rng: random.Random) -> Any:
    messages = [either(rng, random_message(rng)) for _ in range(rng.randrange(5))]
    return either(rng, {"input": either(rng, rng.choice([rng.choice(TEXTS), messages, messages]))})


def prompts(run: Profiled) -> list[str | None]:
    return [text for (text,) in run.query("select prompt from task_profiles order by task_index")]


def test_any_input_gives_what_python_reads(workspace: Path) -> None:
    rng = random.Random(11)
    params = [random_params(rng) for _ in range(2500)]
    inputs = [key(task, 0, responses_create_params=one) for task, one in enumerate(params)]
    rows = [key(task, 0, reward=1) for task in range(len(params))]
    found = prompts(profiled(write_run(workspace, rows, inputs=inputs)))
    expected = [asked(one) for one in params]
    assert sum(text is not None for text in expected) > 500
    assert found == expected


@pytest.mark.parametrize(
    ("written", "prompt"),
    [
        (rb'"x\ud800y \ud83d\ude00"', "x\ufffdy \U0001f600"),
        (b'[{"content":[{"text":NaN},{"text":"a"}]}]', "a"),
        (b'"a","input":"b","x":NaN', "b"),
    ],
    ids=["half a surrogate pair", "NaN", "twice"],
)
def test_lines_that_have_to_be_rewritten_keep_their_prompt(
    written: bytes, prompt: str, workspace: Path
) -> None:
    agent = b'"agent_ref":{"name":"a"},"_ng_task_index":0,"_ng_rollout_index":0'
    row = b"\xef\xbb\xbf{" + agent + b',"responses_create_params":{"input":' + written + b"}}"
    run = profiled(write_run(workspace, [key(0, 0, reward=1)], inputs=[row]))
    assert prompts(run) == [prompt]


def test_the_prompt_is_of_the_sample_and_in_no_file(workspace: Path) -> None:
    inputs = [
        key(0, index, responses_create_params={"input": f"attempt {index}"}) for index in range(3)
    ]
    rows = [key(0, index, reward=1) for index in (2, 1)]
    run = profiled(write_run(workspace, rows, inputs=inputs), "--allow-partial")
    assert prompts(run) == ["attempt 1"]
    (profile,) = run.profiles()
    assert profile["sample"]["responses_create_params"] == {"input": "attempt 1"}
    assert "prompt" not in profile
