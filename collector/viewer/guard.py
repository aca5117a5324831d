"""Who may look: requests to this server, from its own pages, with the token if it needs one.

A page elsewhere can send requests to a server on this machine, and with a host name that changes
its address (DNS rebinding) it could read the answers. So the Host must be one the server goes by,
and what another site's page asks for in the background is refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import compare_digest
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.viewer.render import page

LOGIN = "/login"
STATIC = "/static/"
TARGET_BYTES = 200_000
BODY_BYTES = 8_192
WRONG_SECONDS = 0.5
COOKIE_SECONDS = 30 * 24 * 3600
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # not no-referrer: browsers would then call the origin of our own forms null
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    reason: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Guard:
    """The names a server goes by and the token it asks for, if it is open to other machines."""

    port: int
    names: frozenset[str] = frozenset()
    """What it is called besides the names of the loopback."""
    token: str | None = field(default=None, repr=False)

    def middleware(self) -> list[Middleware]:
        """Return what stands in front of every page."""
        return [Middleware(_GuardMiddleware, guard=self)]

    @property
    def is_remote(self) -> bool:
        """Tell whether others than this machine may ask."""
        return self.token is not None

    def refusal(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Say why a request must not be answered, or nothing if it may."""
        return (
            self._wrong_host(headers.getlist("host"))
            or _wrong_origin(headers)
            or _wrong_site(method, headers)
            or self._wrong_method(method, path)
        )

    def is_known(self, cookies: Mapping[str, str]) -> bool:
        """Tell whether a request may see pages: it brings the cookie, or none is needed."""
        if self.token is None:
            return True
        found = cookies.get(self.cookie_name, "")
        return compare_digest(found.encode(errors="replace"), self._cookie_value.encode())

    def is_token(self, text: str) -> bool:
        """Tell whether this is the token, in a time that does not depend on the text."""
        given = text.strip().encode(errors="replace")
        return self.token is not None and compare_digest(given, self.token.encode())

    def remember(self, response: Response) -> Response:
        """Let the browser bring the token by itself from now on."""
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
        """Return a name of its own: browsers share cookies between the ports of a machine."""
        return f"spotter_{self.port}"

    @property
    def _cookie_value(self) -> str:
        return hashlib.sha256(f"spotter {self.token}".encode()).hexdigest()

    def _wrong_host(self, hosts: list[str]) -> Refusal | None:
        if len(hosts) == 1 and self._is_ours(hosts[0].lower()):
            return None
        shown = ascii(", ".join(hosts)[:100])
        return Refusal(
            421,
            f"This server is not called {shown}. Open it at http://127.0.0.1:{self.port}/ on the"
            " machine where it runs; through a tunnel, use the same port at both ends.",
        )

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        if port != str(self.port):
            return False
        if name in LOOPBACK_NAMES or name in self.names:
            return True
        return self.is_remote and _is_address(name)

    def _wrong_method(self, method: str, path: str) -> Refusal | None:
        is_login = method == "POST" and path == LOGIN and self.is_remote
        if is_login or method in ("GET", "HEAD"):
            return None
        return Refusal(405, f"{method[:20]!a} is not answered here.", {"Allow": "GET, HEAD"})


def _is_address(name: str) -> bool:
    """Tell whether a host is an IP address, which no foreign name server can point elsewhere."""
    is_bracketed = name.startswith("[") and name.endswith("]")
    try:
        found = ipaddress.ip_address(name[1:-1] if is_bracketed else name)
    except ValueError:
        return False
    return (found.version == 6) == is_bracketed


def _wrong_origin(headers: Headers) -> Refusal | None:
    host = headers.get("host", "").lower()
    for origin in headers.getlist("origin"):
        if origin.lower() not in (f"http://{host}", f"https://{host}"):
            shown = ascii(origin[:100])
            return Refusal(403, f"A page of {shown} asked for this, which only its own pages may.")
    return None


def _wrong_site(method: str, headers: Headers) -> Refusal | None:
    """Refuse what a page elsewhere loads; a link that a person follows is fine."""
    site = headers.get("sec-fetch-site", "none")
    is_followed = (
        method in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
    if site in ("none", "same-origin") or is_followed:
        return None
    return Refusal(403, "A page of another site asked for this, which only its own pages may.")


def local_path(text: str) -> str:
    """Return an address on this server; anything that leads elsewhere becomes the first page."""
    is_local = text.startswith("/") and not text.startswith("//")
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and " " not in text
    return text if is_local and is_plain else "/"


class _GuardMiddleware:
    """Look at each request before anything else does, and add to each response what it needs."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self.app = app
        self.guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, _with_headers(scope["path"], send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_started = False

        async def noticing(message: Message) -> None:
            nonlocal is_started
            is_started = True
            await send(message)

        try:
            response = await self._instead(scope, receive)
            await (response or self.app)(scope, receive, noticing)
        except ClientDisconnect:
            return
        except Exception:
            # the outer layers would answer too, but without the headers; they log it
            if not is_started:
                await _plain(500, "Something is broken; the terminal tells what.")(
                    scope, receive, send
                )
            raise

    async def _instead(self, scope: Scope, receive: Receive) -> Response | None:
        """Return what is answered in place of a page, if the page may not be seen."""
        method, path, query = scope["method"], scope["path"], scope["query_string"]
        headers = Headers(scope=scope)
        refusal = self.guard.refusal(method, path, headers)
        if refusal:
            return _plain(refusal.status, refusal.reason, refusal.headers)
        if len(scope.get("raw_path", b"")) + len(query) > TARGET_BYTES:
            return _plain(414, f"The address is longer than {TARGET_BYTES:,} bytes.")
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
            return self.guard.remember(RedirectResponse(here, 303))
        if self.guard.is_known(request.cookies):
            return RedirectResponse(here, 303) if tokens else None
        return await _ask_for_token(here, is_wrong=bool(tokens))

    async def _log_in(self, request: Request) -> Response:
        if request.method != "POST":
            return await _ask_for_token("/", is_wrong=False)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                return _plain(413, f"The form is longer than {BODY_BYTES:,} bytes.")
        form = parse_qs(body.decode("utf-8", "replace"))
        place = local_path(form.get("next", ["/"])[0])
        if self.guard.is_token(form.get("token", [""])[0]):
            return self.guard.remember(RedirectResponse(place, 303))
        return await _ask_for_token(place, is_wrong=True)


async def _ask_for_token(place: str, *, is_wrong: bool) -> Response:
    if is_wrong:
        await asyncio.sleep(WRONG_SECONDS)
    return page("login.html", status=401, title="Log in", crumbs=[], place=place, is_wrong=is_wrong)


def _plain(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{reason}\n", status, headers=headers)


def _with_headers(path: str, send: Send) -> Send:
    # files of the package may be kept, if the browser asks whether they are still the same
    keep = "no-cache" if path.startswith(STATIC) else "no-store"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", keep)
        await send(message)

    return send_with_headers
