"""Read single samples out of a log, without the events, which are most of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.importing.attempts import Json
from collector.importing.formats.inspect.messages import attachment_names
from collector.importing.json_scanner import (
    JsonScanner,
    LongValueError,
    check_value_count,
    parse_value,
)
from collector.jsonl import read_object

SMALL_BYTES = 8 << 20
"""A sample up to this size is parsed as a whole, which is faster."""
SAMPLE_BYTES = 32 << 20
"""The most bytes of a sample that are carried over."""
SKIPPED = ("events", "transcript", "events_data", "message_pool", "call_pool", "store")
EVENT = "first_model_event"
REFERRING = ("input", "messages", EVENT)


def parse_sample(text: bytes) -> Json:
    """Parse a sample; only its first call of the model is kept of its events."""
    check_value_count(text)
    row = read_object(text)
    transcript = row.get("transcript")
    if isinstance(transcript, dict):  # logs of 2024
        row.setdefault("events", transcript.get("events"))
        row.setdefault("attachments", transcript.get("content"))
    events = row.get("events")
    row[EVENT] = next(filter(is_model_event, events if isinstance(events, list) else []), None)
    return {name: value for name, value in row.items() if name not in SKIPPED}


def scan_sample(scanner: JsonScanner) -> Json:
    """Read a sample of any size; only the attachments that its messages refer to are kept."""
    row: Json = {}
    late: bytes | None = None
    budget = _Budget(scanner)
    for name in scanner.members():
        kind = scanner.kind()
        if name == "events" and kind == "[":
            row[EVENT] = _scan_events(scanner)
        elif name == "transcript" and kind == "{":
            _scan_transcript(budget, row)
        elif name == "attachments" and kind == "{" and "messages" in row:
            row[name] = _scan_attachments(budget, row)
        elif name == "attachments":
            late = budget.value()
        elif name not in SKIPPED:
            row[name] = parse_value(budget.value())
    if late is not None:
        row["attachments"] = parse_value(late)
    return row


class _Budget:
    """Takes values of a sample until they have too many bytes together."""

    def __init__(self, scanner: JsonScanner) -> None:
        self.scanner = scanner
        self._left = SAMPLE_BYTES

    def value(self) -> bytes:
        try:
            text = self.scanner.value(self._left)
        except LongValueError:
            raise too_long() from None
        self._left -= len(text)
        return text


def too_long() -> ValueError:
    """Return the error of a sample that cannot be a row of a run."""
    return ValueError(f"a sample has more than {SAMPLE_BYTES:,} bytes besides its events")


def is_model_event(event: Any) -> bool:
    """Tell whether an event is a call of the model."""
    return isinstance(event, dict) and event.get("event") == "model"


def _scan_transcript(budget: _Budget, row: Json) -> None:
    for name in budget.scanner.members():
        kind = budget.scanner.kind()
        if name == "events" and kind == "[":
            row[EVENT] = _scan_events(budget.scanner)
        elif name == "content" and kind == "{":
            row["attachments"] = _scan_attachments(budget, row)


def _scan_events(scanner: JsonScanner) -> Json | None:
    found: Json | None = None
    for _ in scanner.elements():
        if found is None:
            event = scanner.parse(SAMPLE_BYTES)
            found = event if is_model_event(event) else None
    return found


def _scan_attachments(budget: _Budget, row: Json) -> Json:
    wanted = referred_names(row)
    names = (name for name in budget.scanner.members() if name in wanted)
    return {name: parse_value(budget.value()) for name in names}


def referred_names(row: Json) -> set[str]:
    """Return the names of the attachments that the carried parts of a sample refer to."""
    return {one for name in REFERRING for one in attachment_names(row.get(name))}


def read_sample(read: Callable[[int], bytes], size: int) -> Json:
    """Read a sample of so many bytes; raise ValueError if it is not one."""
    if size <= SMALL_BYTES:
        parts = []
        while part := read(SMALL_BYTES):
            parts.append(part)
        return parse_sample(b"".join(parts))
    scanner = JsonScanner(read)
    row = scan_sample(scanner)
    scanner.finish()
    return row
