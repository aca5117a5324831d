"""Access control: accepts requests from the viewer's own pages, with the token if one is set."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import compare_digest
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.host_guard import HostGuard, RequestRefusal
from collector.viewer.render import page

LOGIN = "/login"
STATIC = "/static/"
TARGET_BYTES = 200_000
BODY_BYTES = 8_192
WRONG_SECONDS = 0.5
COOKIE_SECONDS = 30 * 24 * 3600
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # with no-referrer, browsers would send "null" as the origin of our own forms
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class Guard:
    """The host names of a server, and its token if other machines may connect."""

    port: int
    names: frozenset[str] = frozenset()
    """Host names besides those of the loopback address."""
    token: str | None = field(default=None, repr=False)

    def middleware(self) -> list[Middleware]:
        """Return the middleware that checks every request."""
        return [Middleware(_GuardMiddleware, guard=self)]

    @property
    def is_remote(self) -> bool:
        """Tell whether other machines may connect."""
        return self.token is not None

    def refusal(self, method: str, path: str, headers: Headers) -> RequestRefusal | None:
        """Return why a request is refused, or None if it is allowed."""
        return self._host_guard.refusal(method, headers) or self._wrong_method(method, path)

    def is_logged_in(self, cookies: Mapping[str, str]) -> bool:
        """Tell whether the cookies hold the login, or no login is needed."""
        if self.token is None:
            return True
        value = cookies.get(self.cookie_name, "")
        return compare_digest(value.encode(errors="replace"), self._cookie_value.encode())

    def is_token(self, text: str) -> bool:
        """Tell whether a text is the token, in a time that does not depend on the text."""
        given = text.strip().encode(errors="replace")
        return self.token is not None and compare_digest(given, self.token.encode())

    def set_cookie(self, response: Response) -> Response:
        """Add the login cookie to a response, and return the response."""
        response.set_cookie(
            self.cookie_name,
            self._cookie_value,
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="lax",
        )
        return response

    @property
    def cookie_name(self) -> str:
        """Return a name with the port: browsers share cookies between the ports of a host."""
        return f"spotter_{self.port}"

    @property
    def _cookie_value(self) -> str:
        return hashlib.sha256(f"spotter {self.token}".encode()).hexdigest()

    @property
    def _host_guard(self) -> HostGuard:
        return HostGuard(
            "The viewer",
            f"Open http://127.0.0.1:{self.port}/ on the machine where the viewer runs. Through a"
            " tunnel, use the same port at both ends.",
            names=self.names,
            port=self.port,
            allows_addresses=self.is_remote,
        )

    def _wrong_method(self, method: str, path: str) -> RequestRefusal | None:
        is_login = method == "POST" and path == LOGIN and self.is_remote
        if is_login or method in ("GET", "HEAD"):
            return None
        return RequestRefusal(
            405, f"The viewer does not accept {method[:20]!a} requests.", {"Allow": "GET, HEAD"}
        )


def local_path(text: str) -> str:
    """Return the text if it is a path on this server, else the path of the first page."""
    is_local = text.startswith("/") and not text.startswith("//")
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and " " not in text
    return text if is_local and is_plain else "/"


class _GuardMiddleware:
    """Checks each request first, and adds the security headers to each response."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self.app = app
        self.guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, _add_headers(scope["path"], send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal is_started
            is_started = True
            await send(message)

        try:
            response = await self._early_response(scope, receive)
            await (response or self.app)(scope, receive, send_and_note_start)
        except ClientDisconnect:
            return
        except Exception:
            # Starlette's own response to an error lacks the headers; raising lets it log the error
            if not is_started:
                await _text_response(500, "The viewer failed. See its terminal for the error.")(
                    scope, receive, send
                )
            raise

    async def _early_response(self, scope: Scope, receive: Receive) -> Response | None:
        """Return a refusal or the login page, or None if the request may reach a page."""
        method, path, query = scope["method"], scope["path"], scope["query_string"]
        headers = Headers(scope=scope)
        refusal = self.guard.refusal(method, path, headers)
        if refusal:
            return _text_response(refusal.status, refusal.reason, refusal.headers)
        if len(scope.get("raw_path", b"")) + len(query) > TARGET_BYTES:
            return _text_response(414, f"The address is longer than {TARGET_BYTES:,} bytes.")
        if not self.guard.is_remote or path.startswith(STATIC):
            return None
        if path == LOGIN:
            return await self._log_in(Request(scope, receive))
        return await self._look_for_token(Request(scope))

    async def _look_for_token(self, request: Request) -> Response | None:
        values = request.query_params.multi_items()
        tokens = [value for name, value in values if name == "token"]
        rest = urlencode([(name, value) for name, value in values if name != "token"])
        here = local_path(quote(request.scope["path"]) + (f"?{rest}" if rest else ""))
        if any(self.guard.is_token(token) for token in tokens):
            return self.guard.set_cookie(RedirectResponse(here, 303))
        if self.guard.is_logged_in(request.cookies):
            return RedirectResponse(here, 303) if tokens else None
        return await _ask_for_token(here, is_wrong=bool(tokens))

    async def _log_in(self, request: Request) -> Response:
        if request.method != "POST":
            return await _ask_for_token("/", is_wrong=False)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                return _text_response(413, f"The form is longer than {BODY_BYTES:,} bytes.")
        form = parse_qs(body.decode("utf-8", "replace"))
        path = local_path(form.get("next", ["/"])[0])
        if self.guard.is_token(form.get("token", [""])[0]):
            return self.guard.set_cookie(RedirectResponse(path, 303))
        return await _ask_for_token(path, is_wrong=True)


async def _ask_for_token(path: str, *, is_wrong: bool) -> Response:
    if is_wrong:
        await asyncio.sleep(WRONG_SECONDS)
    return page("login.html", status=401, title="Log in", crumbs=[], path=path, is_wrong=is_wrong)


def _text_response(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{reason}\n", status, headers=headers)


def _add_headers(path: str, send: Send) -> Send:
    # browsers may store static files if they check each time whether the file has changed
    cache = "no-cache" if path.startswith(STATIC) else "no-store"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", cache)
        await send(message)

    return send_with_headers
