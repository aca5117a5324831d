"""What became of an attempt: an answer to keep, a failure, or nothing to write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from collector.collection.requests import ATTEMPT, Request, stamped
from collector.collection.secrets import Redactor
from collector.gym_client import ClientError, GarbledError, Reply, TooSlowError
from collector.jsonl import dump, parse_object

Row = dict[str, Any]
FAILURE_CLASS = "_ng_failure_class"
FAILURE_TERMINAL = "_ng_failure_terminal"
NO_PERSIST = "_ng_no_persist"
MESSAGE_CHARACTERS = 4000
READ_CHARACTERS = 16_000
# the row itself is at fault: sending it again cannot help
TERMINAL_STATUS = (400, 413, 422)
PASSING_STATUS = (408, 429)


@dataclass(frozen=True, slots=True)
class Answer:
    """A completed rollout."""

    request: Request
    row: Row
    line: bytes
    """The row for the rollouts file."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt."""

    request: Request
    kind: str
    message: str
    line: bytes
    """The row for the failures file."""
    is_terminal: bool = False
    is_worth_retrying: bool = True
    """Whether to try again in this collection."""
    is_final: bool = False
    """Whether this collection gives the rollout up."""


@dataclass(frozen=True, slots=True)
class Unkept:
    """A rollout whose agent asks that nothing be written: resuming runs it again."""

    request: Request


Outcome = Answer | Failure | Unkept


def of_reply(request: Request, reply: Reply, redactor: Redactor) -> Outcome:
    """Judge what a server answered."""
    if reply.status != httpx.codes.OK:
        return _refused(request, reply, redactor)
    try:
        return _accepted(request, reply.body, redactor)
    except ValueError as error:
        return _failure(request, "bad_response", f"{error}: {_text(reply.body)}", redactor)
    except RecursionError:
        return _failure(request, "bad_response", "the answer is nested too deeply", redactor)


def _accepted(request: Request, body: bytes, redactor: Redactor) -> Outcome:
    row = parse_object(body)
    if row.get(NO_PERSIST):
        return Unkept(request)
    if row.get(FAILURE_CLASS) is not None:
        return _agent_failure(request, row, body, redactor)
    return Answer(request, row, redactor.line(stamped(body, row, request.stamps)))


def of_error(request: Request, error: ClientError, redactor: Redactor) -> Failure:
    """Judge a request without an answer."""
    kinds: Mapping[type[ClientError], str] = {
        TooSlowError: "timeout",
        GarbledError: "bad_response",
    }
    return _failure(request, kinds.get(type(error), "connection"), str(error), redactor)


def _refused(request: Request, reply: Reply, redactor: Redactor) -> Failure:
    kind = {4: "http_4xx", 5: "http_5xx"}.get(reply.status // 100, "bad_response")
    message = f"HTTP {reply.status}: {_text(reply.body)}"
    return _failure(request, kind, message, redactor, status=reply.status)


def _failure(
    request: Request, kind: str, message: str, redactor: Redactor, *, status: int | None = None
) -> Failure:
    is_terminal = status in TERMINAL_STATUS
    whole = message[:READ_CHARACTERS].encode("utf-8", "replace").decode()
    text = redactor.text(whole)[:MESSAGE_CHARACTERS]
    row = {
        **request.stamps,
        ATTEMPT: request.attempt,
        FAILURE_CLASS: kind,
        FAILURE_TERMINAL: is_terminal,
        "_ng_failure_message": text,
        **({"_ng_failure_status": status} if status else {}),
        "_ng_failed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return Failure(
        request,
        kind,
        text,
        redactor.line(dump(row)),
        is_terminal=is_terminal,
        is_worth_retrying=kind != "http_4xx" or status in PASSING_STATUS,
    )


def _agent_failure(request: Request, row: Row, text: bytes, redactor: Redactor) -> Failure:
    """Keep the agent's own class and text; resuming tries again, as NeMo Gym does."""
    given = row[FAILURE_CLASS]
    named = {} if isinstance(given, str) and given else {FAILURE_CLASS: "agent_failure"}
    stamps = {**request.stamps, ATTEMPT: request.attempt, **named}
    return Failure(
        request,
        "agent_failure",
        redactor.text(f"the agent reports {str(given)[:200]}"),
        redactor.line(stamped(text, row, stamps)),
        is_terminal=bool(row.get(FAILURE_TERMINAL)),
        is_worth_retrying=False,
    )


def _text(body: bytes) -> str:
    """Return a server's message: it may be a JSON string, an object with `detail`, or anything."""
    text = body[: 4 * READ_CHARACTERS].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict) and "detail" in value:
        value = value["detail"]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
