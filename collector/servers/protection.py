"""Protect every server of a gym: from pages of other sites, and from telling secrets.

No server takes part in this: whatever a model, a tool or a verdict answers passes through here.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.errors import UsageError
from collector.host_guard import HostGuard
from collector.secrets import Redactor, secret_texts
from collector.servers.config import ALLOWED_HOSTS
from collector.servers.web import json_response

ADVICE = f"Use an address of the config, or add the name to {ALLOWED_HOSTS} in the config."


@dataclass(frozen=True)
class Protection:
    """The names and the secrets of a gym."""

    names: frozenset[str]
    redactor: Redactor

    @classmethod
    def of_config(cls, config: Mapping[str, Any], hosts: Iterable[str]) -> Protection:
        """Return the protection of a resolved config whose servers listen on these hosts."""
        names = {*_allowed_hosts(config), *hosts}
        if not all(map(_is_loopback, names)):
            names.add(socket.gethostname())
        return cls(
            frozenset(_bracket_ipv6(name.lower()) for name in names),
            Redactor(secret_texts(config)),
        )

    def wrap(self, app: ASGIApp, name: str) -> ASGIApp:
        """Return an application that checks every request, and redacts every answer."""
        guard = HostGuard(name, ADVICE, names=self.names, allows_addresses=True)
        return _ProtectedApp(app, guard, self.redactor)

    @contextlib.contextmanager
    def redacted_logs(self) -> Iterator[None]:
        """Redact everything that is logged, whoever logs it."""
        make_record = logging.getLogRecordFactory()

        def make_redacted(*arguments: Any, **options: Any) -> logging.LogRecord:
            record = make_record(*arguments, **options)
            record.msg = self.redactor.redact_known(record.getMessage())
            record.args = ()
            if record.exc_info:
                text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
                record.exc_text = self.redactor.redact_known(text)
            return record

        logging.setLogRecordFactory(make_redacted)
        try:
            yield
        finally:
            logging.setLogRecordFactory(make_record)


class _ProtectedApp:
    def __init__(self, app: ASGIApp, guard: HostGuard, redactor: Redactor) -> None:
        self._app = app
        self._guard = guard
        self._redactor = redactor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._guard.refusal(scope["method"], Headers(scope=scope))
        if refusal:
            response = json_response({"detail": refusal.reason}, status=refusal.status)
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, _AnswerRedaction(send, self._redactor).send)


class _AnswerRedaction:
    """Holds an answer back until it is complete: a secret may begin in one part of it."""

    def __init__(self, send: Send, redactor: Redactor) -> None:
        self._send = send
        self._redactor = redactor
        self._start: Message = {}
        self._parts: list[bytes] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._parts.append(message.get("body", b""))
        if message.get("more_body"):
            return
        body = self._redactor.redact_line(b"".join(self._parts))
        MutableHeaders(scope=self._start)["Content-Length"] = str(len(body))
        await self._send(self._start)
        await self._send({**message, "body": body})


def _allowed_hosts(config: Mapping[str, Any]) -> list[str]:
    value = config.get(ALLOWED_HOSTS) or []
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{ALLOWED_HOSTS}: write it as a list of host names, like [gym, gym.lan]")
    return names


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _bracket_ipv6(host: str) -> str:
    return f"[{host}]" if ":" in host else host
