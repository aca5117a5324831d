"""Serve an environment: sessions in cookies, one POST a tool, a verdict at the end."""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.aggregation import aggregate_metrics
from collector.servers.resources_servers.environment import Environment, Tool, ToolError
from collector.servers.resources_servers.masking import mask_of, problem_of
from collector.servers.web import Endpoint, RefusedError, answer, body_of, guarded, make_app

Row = dict[str, Any]
COOKIE = "session"
SESSION_NAME = re.compile(r"[\w-]{1,64}")
RESERVED = ("seed_session", "verify", "aggregate_metrics", "reverify_mode")
DEFAULT_SESSION_SECONDS = 3600.0


class _Session:
    def __init__(self, state: Any) -> None:
        self.state = state
        self.lock = asyncio.Lock()
        self.used_at = time.monotonic()


class Sessions:
    """The states of rollouts that are under way; those nobody asks for any more are dropped."""

    def __init__(self, seconds: float = DEFAULT_SESSION_SECONDS) -> None:
        """Start without any."""
        self._seconds = seconds
        self._by_id: dict[str, _Session] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_id)

    def begin(self, state: Any) -> str:
        """Keep a state, and return the name of its session."""
        self._drop_old()
        name = secrets.token_urlsafe(16)
        self._by_id[name] = _Session(state)
        return name

    def find(self, request: Request) -> _Session | None:
        """Return the session that a request belongs to."""
        self._drop_old()
        session = self._by_id.get(request.cookies.get(COOKIE, ""))
        if session:
            session.used_at = time.monotonic()
            self._by_id[request.cookies[COOKIE]] = self._by_id.pop(request.cookies[COOKIE])
        return session

    def end(self, request: Request) -> None:
        """Forget the session of a request."""
        self._by_id.pop(request.cookies.get(COOKIE, ""), None)

    def _drop_old(self) -> None:
        oldest = time.monotonic() - self._seconds
        # the oldest comes first: each use puts a session to the end
        for name, session in list(self._by_id.items()):
            if session.used_at >= oldest:
                break
            if not session.lock.locked():  # one whose tool is still running is in use
                del self._by_id[name]


class ResourcesServer:
    """The endpoints of one environment."""

    def __init__(self, name: str, environment: Environment[Any], *, session_seconds: float) -> None:
        """Take the environment as it is; sessions begin with requests."""
        self._name = name
        self._environment = environment
        self.sessions = Sessions(session_seconds)

    def app(self) -> Starlette:
        """Build the server."""
        for tool in self._environment.tools:
            if tool.name in RESERVED:
                raise ValueError(f"a tool cannot be called {tool.name}")
        tools = {
            f"/{tool.name}": _carrying(self._tool_endpoint(tool))
            for tool in self._environment.tools
        }
        return make_app(
            self._name,
            {
                "/seed_session": self._seed,
                "/verify": _carrying(self._verify),
                "/aggregate_metrics": _aggregate,
                **tools,
            },
            getters={"/reverify_mode": self._reverify_mode},
        )

    async def _seed(self, request: Request) -> Response:
        row = await body_of(request)
        state = await _on_row(self._environment.new_session, row)
        return answer({}, headers={"Set-Cookie": _cookie(self.sessions.begin(state))})

    async def _verify(self, request: Request) -> Response:
        row = await body_of(request)
        response = row.get("response")
        if not isinstance(response, dict):
            raise RefusedError(
                422, [{"type": "missing", "loc": ["body", "response"], "msg": "no response"}]
            )
        session = self.sessions.find(request)
        try:
            async with session.lock if session else contextlib.nullcontext():
                state = session.state if session else None
                verdict = await _on_row(self._environment.verify, row, response, state)
        finally:
            self.sessions.end(request)
        _check_verdict(verdict)
        # a mask is of this rollout: a row may come from an earlier one, with that one's fields
        return answer({**row, **mask_of(response), **verdict})

    def _tool_endpoint(self, tool: Tool[Any]) -> Endpoint:
        async def call(request: Request) -> Response:
            arguments = _checked(tool, await body_of(request))
            session = self.sessions.find(request)
            if session is None:
                raise RefusedError(400, "no session: call /seed_session first and send its cookie")
            async with session.lock:
                try:
                    result = await _contained(tool.function, session.state, arguments)
                except ToolError as error:
                    return answer({"error": str(error)})
            return answer({"output": result})

        return call

    async def _reverify_mode(self, _: Request) -> Response:
        return answer(self._environment.reverify_mode)


def _check_verdict(verdict: Any) -> None:
    reward = verdict.get("reward") if isinstance(verdict, dict) else None
    if not isinstance(reward, (int, float)) or not math.isfinite(reward):
        raise RefusedError(500, f"the environment's verdict has no finite reward: {verdict!r}")
    if problem := problem_of(verdict):
        raise RefusedError(500, f"the environment's verdict cannot be used: {problem}")


def _cookie(name: str) -> str:
    return f"{COOKIE}={name}; Path=/; HttpOnly; SameSite=Lax"


def _carrying(endpoint: Endpoint) -> Endpoint:
    """Send the session along with every answer, also a refusal.

    NeMo Gym's agents put the cookies of each answer, and only those, into the next request.
    """

    async def call(request: Request) -> Response:
        response = await guarded(endpoint)(request)
        name = request.cookies.get(COOKIE, "")
        if SESSION_NAME.fullmatch(name):
            response.headers["Set-Cookie"] = _cookie(name)
        return response

    return call


async def _on_row(function: Callable[..., Any], *given: Any) -> Any:
    """Call the environment; a ValueError says what is wrong with the row."""
    try:
        return await _contained(function, *given)
    except ValueError as error:
        raise RefusedError(422, str(error)) from error


async def _contained(function: Callable[..., Any], *given: Any) -> Any:
    """Run the environment's code in a thread; what it does must not end the server."""

    def call() -> Any:
        try:
            return function(*given)
        except (SystemExit, KeyboardInterrupt) as error:
            raise RuntimeError(f"the environment raised {type(error).__name__}") from error

    return await run_in_threadpool(call)


def _checked(tool: Tool[Any], given: Row) -> Any:
    """Return the arguments, or say which field is wrong and how."""
    try:
        return tool.checked(given)
    except ValidationError as error:
        raise RefusedError(
            422,
            [
                {"type": found["type"], "loc": ["body", *found["loc"]], "msg": found["msg"]}
                for found in error.errors()
            ],
        ) from error


async def _aggregate(request: Request) -> Response:
    body = await body_of(request)
    return answer(await aggregate_metrics(body.get("verify_responses")))
