"""The parts of the collector that need no server."""

from __future__ import annotations

import contextlib
import json
import random
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector.collection.journal import Journal
from collector.collection.outcomes import Failure, Judge
from collector.collection.requests import request_of, stamp_line
from collector.collection.settings import CollectSettings
from collector.collection.sorting import sorted_lines
from collector.errors import UsageError
from collector.gym_client import Reply
from collector.jsonl import parse_object
from collector.keys import Keys, row_key
from collector.retries import retry_after, retry_delay
from collector.rollout_lines import indices_of
from collector.secrets import Redactor, is_secret_name
from collector.validation import validate_settings

LINE = b'{"agent_ref":{"name":"a"},"_ng_task_index":3,"_ng_rollout_index":1}'


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"reward": 1.0}', '{"reward": 1.0,"_ng_task_index":3}'),
        ('{"r": 123456789012345678901}', '{"r": 123456789012345678901,"_ng_task_index":3}'),
        ('{"_ng_task_index": 3, "b": 1e-07}', '{"_ng_task_index": 3, "b": 1e-07}'),
        ('{"_ng_task_index": 4}', '{"_ng_task_index":3}'),
        ('{"_ng_task_index": true}', '{"_ng_task_index":3}'),
        ("{}", '{"_ng_task_index":3}'),
        ('{\n"reward": 1}', '{"reward":1,"_ng_task_index":3}'),
    ],
)  # fmt: skip
def test_an_answer_is_copied_and_stamped(answer: str, expected: str) -> None:
    text = answer.encode()
    assert stamp_line(text, parse_object(text), {"_ng_task_index": 3}) == expected.encode()


def test_a_retried_row_carries_its_attempt() -> None:
    first = request_of(LINE)
    assert first.body == LINE
    again = first.again().again()
    assert json.loads(again.body) == {**json.loads(LINE), "_ng_attempt_index": 2}
    assert again.stamps["_ng_attempt_index"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer s3cr3t-value",
        "{'headers': {'Authorization': 'Bearer s3cr3t-value'}}",
        json.dumps(json.dumps({"api_key": "s3cr3t-value"})),
        "OPENAI_API_KEY=s3cr3t-value",
        "x-api-key: s3cr3t-value",
        "http://user:s3cr3t-value@host:1/run",
        "Cookie: a=b; session=s3cr3t-value",
        "the known one is s3cr3t-value",
    ],
)
def test_secrets_are_taken_out_of_messages(text: str) -> None:
    assert "s3cr3t" not in Redactor(["s3cr3t-value"]).redact_text(text)
    if "known" not in text:
        assert "s3cr3t" not in Redactor().redact_text(text)


def test_what_is_no_secret_stays() -> None:
    text = "max_output_tokens: 2048, token count 5, monkey=banana"
    assert Redactor(["test", "short"]).redact_text(text) == text
    assert not is_secret_name("max_output_tokens")
    assert not is_secret_name("total_tokens")


HOSTILE = ("a", "secret", "://", "bearer ", "token: ", "cookie=")


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_message_is_cut(word: str) -> None:
    reply = Reply(500, httpx.Headers(), (word * 60_000).encode())
    outcome = Judge(Redactor()).of_reply(request_of(LINE), reply, seconds=1.0)
    assert isinstance(outcome, Failure)
    assert len(outcome.message) <= 4000
    assert len(json.loads(outcome.line)["_ng_failure_response_body"]) <= 2000


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_text_is_redacted_in_linear_time(word: str) -> None:
    redactor = Redactor(["s3cr3t-value"])

    def seconds(text: str) -> float:
        started = time.process_time()
        redactor.redact_text(text)
        return time.process_time() - started

    short, long = (word * (length // len(word)) for length in (10_000, 160_000))
    # sixteen times the text takes sixteen times as long, and 256 times if it were squared
    ratio = min(map(seconds, [long] * 3)) / max(min(map(seconds, [short] * 5)), 1e-6)
    assert ratio < 64


@pytest.mark.parametrize(
    ("written", "index"),
    [
        ("7", 7),
        ("7.0", 7),
        ("-0.0", 0),
        ("70e-1", 7),
        ("9007199254740993", 9007199254740993),
        ("0.5", None),
        ("-1.0", None),
        ("1e300", None),
        ("true", None),
        ('"7"', None),
        ("null", None),
    ],
)
def test_every_reader_takes_an_index_that_is_whole(written: str, index: int | None) -> None:
    row = json.loads(f'{{"_ng_task_index": {written}, "_ng_rollout_index": 0}}')
    assert indices_of(row) == (None if index is None else (index, 0))
    with (
        contextlib.nullcontext() if index is not None else pytest.raises(ValueError, match="index")
    ):
        assert row_key(row) == (index, 0)


def test_keys_hold_many_rollouts() -> None:
    keys = Keys()
    assert all(keys.add((task, rollout)) for task in range(50) for rollout in (0, 7, 300))
    assert not keys.add((3, 7))
    assert (3, 7) in keys
    assert (3, 8) not in keys
    assert keys.count == 150


@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_lines_are_sorted_also_when_they_do_not_fit(tmp_path: Path, chunk: int) -> None:
    items = [((number % 7, number), b"x" * (number % 13)) for number in range(500)]
    shuffled = random.Random(1).sample(items, len(items))
    with sorted_lines(shuffled, tmp_path, chunk_bytes=chunk) as ordered:
        assert list(ordered) == sorted(items)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_repairs_only_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(b'{"a":1}\n' + b"\0" * 5000)
    journal = Journal(path)
    assert "cut short" in str(journal.repair())
    assert journal.repair() is None
    journal.append(b'{"b":2}')
    journal.close()
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'
    assert (tmp_path / "file.jsonl.torn").read_bytes() == b"\0" * 5000 + b"\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("²", None),
        ("", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str, expected: float | None) -> None:
    assert retry_after(httpx.Headers([(b"retry-after", text.encode())])) == expected


def test_pauses_grow_and_are_capped() -> None:
    assert all(0.25 <= retry_delay(1) <= 0.5 for _ in range(50))
    assert all(15 <= retry_delay(count) <= 30 for count in (8, 100, 10_000))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"num_repeats": 0}, "num_repeats"),
        ({"num_repeats": {}}, "num_repeats"),
        ({"num_repeats": {"a": 0}}, "num_repeats"),
        ({"num_repeats": True}, "num_repeats"),
        ({"limit": -1}, "limit"),
        ({"num_samples_in_parallel": 0}, "num_samples_in_parallel"),
        ({"request_timeout": 0}, "request_timeout"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"output_jsonl_fpath": "out.json"}, r"must end in \.jsonl"),
        ({"output_jsonl_fpath": "out_failures.jsonl"}, "must end in"),
        ({"responses_create_params": [1]}, "responses_create_params"),
        ({"head_port": 99999}, "head_port"),
    ],
    ids=str,
)
def test_wrong_settings_are_named(given: dict[str, Any], named: str) -> None:
    base = {"input_jsonl_fpath": "in.jsonl", "output_jsonl_fpath": "out.jsonl"}
    with pytest.raises(UsageError, match=named):
        validate_settings(CollectSettings, base | given)
