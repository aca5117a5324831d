"""The outcome of an attempt: an answer to keep, a failure, or nothing to write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from collector.collection.episodes import MESSAGE
from collector.collection.failure_kinds import (
    FAILURE_CLASS,
    FAILURE_STATUS,
    FAILURE_TERMINAL,
    PEER_DROP,
    REQUEST_FAILED,
    TIMEOUT,
    is_failure_kind,
    kind_of_status,
)
from collector.collection.requests import ATTEMPT, Request, stamp_line
from collector.failure_causes import cause_in_answer, cause_of
from collector.gym_client import ClientError, GarbledError, Reply, TooLargeError, TooSlowError
from collector.jsonl import dump, parse_object
from collector.secrets import Redactor

Row = dict[str, Any]
NO_PERSIST = "_ng_no_persist"
ELAPSED = "elapsed_seconds"
BODY = "_ng_failure_response_body"
MESSAGE_CHARACTERS = 4000
BODY_CHARACTERS = 2000
READ_CHARACTERS = 16_000
# the row itself is wrong: sending it again cannot help
TERMINAL_STATUS = (400, 413, 422)
PASSING_STATUS = (408, 429)


@dataclass(frozen=True, slots=True)
class RolloutAnswer:
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
    cause: str = ""
    """The first lines of the reason in the answer, for the terminal."""
    is_terminal: bool = False
    is_worth_retrying: bool = True
    """Whether to try again in this collection."""
    is_final: bool = False
    """Whether this collection gives the rollout up."""


@dataclass(frozen=True, slots=True)
class Unkept:
    """A rollout whose agent asks that nothing be written: resuming runs it again."""

    request: Request


Outcome = RolloutAnswer | Failure | Unkept


@dataclass(frozen=True)
class Judge:
    """Turns replies and errors into outcomes, with every known secret redacted."""

    redactor: Redactor
    called: str = "agent"
    """What a message calls the server, before its name."""

    def of_reply(self, request: Request, reply: Reply, *, seconds: float) -> Outcome:
        """Return the outcome of a reply that took so many seconds."""
        problem = _Problem(request, self.called, seconds=seconds, reply=reply)
        if reply.status != httpx.codes.OK:
            kind = kind_of_status(reply.status, otherwise=request.error_kind)
            return self._failure(problem, kind, f"HTTP {reply.status}")
        try:
            return self._accept(request, reply.body, seconds)
        except ValueError as error:
            return self._failure(problem, request.error_kind, str(error))
        except RecursionError:
            return self._failure(problem, request.error_kind, "the answer is nested too deeply")

    def of_problem(self, request: Request) -> Failure:
        """Return the failure of a request that cannot be sent: trying again cannot help."""
        problem = _Problem(request, self.called)
        reason = request.problem or ""
        return self._failure(problem, request.error_kind, reason, is_terminal=True)

    def of_error(self, request: Request, error: ClientError, *, seconds: float) -> Failure:
        """Return the failure of a request that got no reply within so many seconds."""
        problem = _Problem(request, self.called, seconds=seconds)
        if isinstance(error, TooSlowError):
            return self._failure(problem, TIMEOUT, str(error))
        if isinstance(error, GarbledError):
            # the error's text quotes the answer
            is_large = isinstance(error, TooLargeError)
            text = str(error) if is_large else "the answer is not HTTP"
            return self._failure(problem, REQUEST_FAILED, text)
        return self._failure(problem, PEER_DROP, str(error))

    def _accept(self, request: Request, body: bytes, seconds: float) -> Outcome:
        answer = parse_object(body)
        row = request.record_of(answer)
        if row is not answer:
            body = dump(row)
        if row.get(NO_PERSIST):
            return Unkept(request)
        if row.get(FAILURE_CLASS) is not None:
            return self._agent_failure(request, row, body)
        line = stamp_line(body, row, request.answer_stamps(seconds))
        return RolloutAnswer(request, row, self.redactor.redact_line(line))

    def _failure(
        self, problem: _Problem, kind: str, reason: str, *, is_terminal: bool = False
    ) -> Failure:
        request, status, text = problem.request, problem.status, problem.text()
        is_terminal = is_terminal or status in TERMINAL_STATUS
        message = self._safe(problem.describe(reason))[:MESSAGE_CHARACTERS]
        row = {
            **request.stamps,
            ATTEMPT: request.attempt,
            FAILURE_CLASS: kind,
            FAILURE_TERMINAL: is_terminal,
            MESSAGE: message,
            **({FAILURE_STATUS: status} if status else {}),
            **({BODY: self._safe(text)[:BODY_CHARACTERS]} if text else {}),
            "_ng_failed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            ELAPSED: round(problem.seconds, 3),
        }
        is_refused = status is not None and status // 100 == 4 and status not in PASSING_STATUS
        return Failure(
            request,
            kind,
            message,
            self.redactor.redact_line(dump(row)),
            cause=cause_in_answer(text, self._safe) if status else "",
            is_terminal=is_terminal,
            is_worth_retrying=not (is_refused or is_terminal),
        )

    def _agent_failure(self, request: Request, row: Row, text: bytes) -> Failure:
        """Return the failure that a server reports, in its words; a resume retries it."""
        name = row[FAILURE_CLASS]
        replacement = {} if isinstance(name, str) and name else {FAILURE_CLASS: request.error_kind}
        stamps = {**request.stamps, ATTEMPT: request.attempt, **replacement}
        kind = name if is_failure_kind(name) else request.error_kind
        return Failure(
            request,
            kind,
            self._safe(_Problem(request, self.called).describe(f"it reports {str(name)[:200]}")),
            self.redactor.redact_line(stamp_line(text, row, stamps)),
            cause=cause_of(row.get(MESSAGE), self._safe),
            is_terminal=bool(row.get(FAILURE_TERMINAL)),
            is_worth_retrying=False,
        )

    def _safe(self, text: str) -> str:
        return self.redactor.redact_text(text[:READ_CHARACTERS].encode("utf-8", "replace").decode())


@dataclass(frozen=True)
class _Problem:
    """A failed request, with its reply if there was one."""

    request: Request
    called: str
    seconds: float = 0.0
    reply: Reply | None = None

    @property
    def status(self) -> int | None:
        """Return the HTTP status, if it is not 200."""
        is_wrong = self.reply is not None and self.reply.status != httpx.codes.OK
        return self.reply.status if self.reply and is_wrong else None

    def describe(self, reason: str) -> str:
        """Return the reason with the request's key and sizes, and nothing of its content."""
        request = self.request
        task, rollout = request.key
        sizes = f"request {len(request.body):,} bytes"
        if self.reply:
            sizes += f", answer {len(self.reply.body):,} bytes"
        return (
            f"{self.called} {request.agent}, task {task}, rollout {rollout},"
            f" attempt {request.attempt + 1}: {reason} ({sizes})"
        )

    def text(self) -> str:
        """Return the error text of the reply: a JSON string, an object's `detail`, or the body."""
        text = (
            self.reply.body[: 4 * READ_CHARACTERS].decode("utf-8", "replace") if self.reply else ""
        )
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, dict) and "detail" in value:
            value = value["detail"]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
