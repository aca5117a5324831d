"""Write small logs in the forms that Inspect writes: a zip, a zip in pieces, one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.zip_files import Member, write_zip

Row = dict[str, Any]
MODEL = "openai/small"


def header(**changes: Any) -> Row:
    """Return the header of a finished log of one model and one scorer."""
    evaluation = {
        "task": "sums",
        "run_id": "r1",
        "created": "2026-01-02T03:04:05+00:00",
        "dataset": {"name": "sums", "samples": 2, "sample_ids": ["one/1", 2]},
        "model": MODEL,
        "model_generate_config": {"temperature": 0.5},
        "config": {"epochs": 2},
        "packages": {"inspect_ai": "0.3.285"},
        "scorers": [{"name": "match"}],
        "metadata": {"checkpoint": "step-7"},
        **changes.pop("eval", {}),
    }
    return {"version": 2, "status": "success", "eval": evaluation, **changes}


def sample(name: str | int = "one/1", epoch: int = 1, **changes: Any) -> Row:
    """Return a sample that was asked one question, called a tool and answered."""
    question = {"id": "m1", "role": "user", "content": "What is 1 + 1?", "source": "input"}
    call = {"id": "c1", "function": "add", "arguments": {"a": 1}}
    return {
        "id": name,
        "epoch": epoch,
        "input": "What is 1 + 1?",
        "target": ["2"],
        "messages": [
            {"role": "system", "content": "You add."},
            question,
            {"role": "assistant", "content": "", "source": "generate", "tool_calls": [call]},
            {"role": "tool", "content": "attachment://a1", "tool_call_id": "c1"},
            {"role": "assistant", "content": [{"type": "text", "text": "2"}]},
        ],
        "output": {"choices": [{"stop_reason": "stop"}]},
        "scores": {"match": {"value": "C", "answer": "2"}},
        "metadata": {"digits": 1},
        "events": [
            {"event": "span_begin"},
            {
                "event": "model",
                "tools": [{"name": "add", "description": "attachment://a2", "parameters": {}}],
            },
        ],
        "model_usage": {
            MODEL: {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34},
            "openai/grader": {"input_tokens": 900, "output_tokens": 90, "total_tokens": 990},
        },
        "attachments": {"a1": "two", "a2": "Adds.", "unused": "x" * 50},
        **changes,
    }


def write_eval(path: Path, samples: Sequence[Row], head: Row | None = None) -> Path:
    """Write a finished `.eval`, compressed with zstd."""
    members = [Member("_journal/start.json", _bytes(header(status="started")))]
    members += [
        Member(f"samples/{one['id']}_epoch_{one['epoch']}.json", _bytes(one)) for one in samples
    ]
    return write_zip(path, [*members, Member("header.json", _bytes(head or header()))])


def write_unfinished(path: Path, samples: Sequence[Row]) -> Path:
    """Write what a killed process leaves: no header.json and no summaries.json."""
    start = {name: value for name, value in header().items() if name != "status"}
    members = [Member("_journal/start.json", _bytes(start))]
    members += [Member(f"samples/{n}_epoch_1.json", _bytes(one)) for n, one in enumerate(samples)]
    return write_zip(path, members)


def write_pieces(path: Path, samples: Sequence[Row], head: Row | None = None) -> Path:
    """Write each sample as a folder of members, with attachments by their number."""
    members = [Member("header.json", _bytes(head or header()))]
    for one in samples:
        names = list(one["attachments"])
        text = json.dumps(one)
        for number, name in enumerate(names):
            text = text.replace(f"attachment://{name}", f"attachment://{number}")
        row = json.loads(text)
        folder = f"samples/{one['id']}_epoch_{one['epoch']}"
        messages, events = row.pop("messages"), row.pop("events")
        texts = list(row.pop("attachments").values())
        row["message_refs"] = [[0, 1], [1, len(messages)]]
        members += [
            Member(f"{folder}/sample.json", _bytes(row)),
            Member(f"{folder}/skeleton.json", _bytes({"version": 1})),
            Member(f"{folder}/events/stats.json", b"[]"),
            Member(f"{folder}/messages/2.json", _bytes(messages[2:])),
            Member(f"{folder}/messages/0.json", _bytes(messages[:2])),
            Member(f"{folder}/events/0.json", _bytes(events)),
            Member(f"{folder}/attachments/0.json", _bytes(texts)),
        ]
    return write_zip(path, members)


def write_json(path: Path, samples: Sequence[Row], head: Row | None = None) -> Path:
    """Write a finished `.json`."""
    path.write_text(json.dumps({**(head or header()), "samples": list(samples)}, indent=2))
    return path


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()
