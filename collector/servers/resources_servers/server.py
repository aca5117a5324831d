"""Serve an environment: one session per cookie, one POST route per tool, and `/verify`."""

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
from starlette.requests import Request
from starlette.responses import Response

from collector.servers.aggregation import aggregate_endpoint
from collector.servers.resources_servers.environment import Environment, Tool, ToolError
from collector.servers.resources_servers.masking import (
    mask_problem,
    masked_verdict,
    response_mask,
)
from collector.servers.resources_servers.timed_calls import (
    DEFAULT_CALL_SECONDS,
    CallTimeoutError,
    TimedCalls,
)
from collector.servers.web import (
    Endpoint,
    RequestRefusedError,
    guard_endpoint,
    json_response,
    make_app,
    read_body,
)

Row = dict[str, Any]
PARAMS = "responses_create_params"
COOKIE = "session"
SESSION_NAME = re.compile(r"[\w-]{1,64}")
RESERVED = ("seed_session", "verify", "aggregate_metrics", "reverify_mode")
DEFAULT_SESSION_SECONDS = 3600.0


class _Session:
    def __init__(self, state: Any) -> None:
        self.state = state
        self.lock = asyncio.Lock()
        self.used_at = time.monotonic()
        self.problem: str | None = None
        """Why the state cannot be used any more: an abandoned call may still change it."""


class Sessions:
    """The states of running rollouts; a session that is unused for too long is dropped."""

    def __init__(self, seconds: float = DEFAULT_SESSION_SECONDS) -> None:
        """Create no session yet; drop sessions that are unused for this many seconds."""
        self._seconds = seconds
        self._by_id: dict[str, _Session] = {}

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self._by_id)

    def begin(self, state: Any) -> str:
        """Store a state, and return the name of its session."""
        self._drop_old()
        name = secrets.token_urlsafe(16)
        self._by_id[name] = _Session(state)
        return name

    def find(self, request: Request) -> _Session | None:
        """Return the session of a request, or None."""
        self._drop_old()
        session = self._by_id.get(request.cookies.get(COOKIE, ""))
        if session:
            session.used_at = time.monotonic()
            self._by_id[request.cookies[COOKIE]] = self._by_id.pop(request.cookies[COOKIE])
        return session

    def end(self, request: Request) -> None:
        """Remove the session of a request."""
        self._by_id.pop(request.cookies.get(COOKIE, ""), None)

    def _drop_old(self) -> None:
        oldest = time.monotonic() - self._seconds
        # the oldest comes first: each use moves a session to the end
        for name, session in list(self._by_id.items()):
            if session.used_at >= oldest:
                break
            if not session.lock.locked():  # a locked session has a running tool
                del self._by_id[name]


class ResourcesServer:
    """The endpoints of one environment."""

    def __init__(
        self,
        name: str,
        environment: Environment[Any],
        *,
        session_seconds: float = DEFAULT_SESSION_SECONDS,
        call_seconds: float = DEFAULT_CALL_SECONDS,
    ) -> None:
        """Wrap an environment; sessions begin with requests."""
        self._name = name
        self._environment = environment
        self.sessions = Sessions(session_seconds)
        self._calls = TimedCalls(call_seconds)

    def app(self) -> Starlette:
        """Build the server; raise ValueError if a tool has a reserved name."""
        for tool in self._environment.tools:
            if tool.name in RESERVED:
                raise ValueError(f"a tool must not have the reserved name {tool.name}")
        tools = {
            f"/{tool.name}": _with_session_cookie(self._tool_endpoint(tool))
            for tool in self._environment.tools
        }
        return make_app(
            self._name,
            {
                "/seed_session": self._seed_session,
                "/verify": _with_session_cookie(self._verify),
                "/aggregate_metrics": aggregate_endpoint,
                **tools,
            },
            getters={"/reverify_mode": self._reverify_mode},
        )

    async def _seed_session(self, request: Request) -> Response:
        row = await read_body(request)
        try:
            state = await self._call(self._environment.new_session, row)
        except CallTimeoutError as error:
            raise RequestRefusedError(504, f"seed_session: {error}") from error
        return json_response({}, headers={"Set-Cookie": _cookie(self.sessions.begin(state))})

    async def _verify(self, request: Request) -> Response:
        row = await read_body(request)
        response = row.get("response")
        if not isinstance(response, dict):
            raise RequestRefusedError(
                422, [{"type": "missing", "loc": ["body", "response"], "msg": "no response"}]
            )
        session = self.sessions.find(request)
        try:
            async with session.lock if session else contextlib.nullcontext():
                verdict = await self._verdict(row, response, session)
        finally:
            self.sessions.end(request)
        _check_verdict(verdict)
        # as in NeMo Gym, none of the task's own fields: their numbers would become metrics
        asked = {name: row[name] for name in (PARAMS, "response") if name in row}
        return json_response({**asked, **response_mask(response), **verdict})

    async def _verdict(self, row: Row, response: Row, session: _Session | None) -> Row:
        """Return the environment's verdict; mask the rollout if there is none in time."""
        if session and session.problem:
            return masked_verdict("session_lost", session.problem)
        state = session.state if session else None
        try:
            verdict: Row = await self._call(self._environment.verify, row, response, state)
        except CallTimeoutError as error:
            return masked_verdict("verifier_error", f"verdict: {error}")
        return verdict

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the environment in a thread; answer a ValueError about the row with status 422."""
        try:
            return await self._calls.run(function, *arguments)
        except ValueError as error:
            raise RequestRefusedError(422, str(error)) from error

    def _tool_endpoint(self, tool: Tool[Any]) -> Endpoint:
        async def call(request: Request) -> Response:
            arguments = _parse_arguments(tool, await read_body(request))
            session = self.sessions.find(request)
            if session is None:
                raise RequestRefusedError(
                    400, "no session: call /seed_session first and send its cookie"
                )
            async with session.lock:
                if session.problem:
                    return json_response({"error": session.problem})
                try:
                    result = await self._calls.run(tool.function, session.state, arguments)
                except ToolError as error:
                    return json_response({"error": str(error)})
                except CallTimeoutError as error:
                    session.problem = f"{tool.name}: {error}"
                    return json_response({"error": session.problem})
            return json_response({"output": result})

        return call

    async def _reverify_mode(self, _: Request) -> Response:
        return json_response(self._environment.reverify_mode)


def _check_verdict(verdict: Any) -> None:
    reward = verdict.get("reward") if isinstance(verdict, dict) else None
    if not isinstance(reward, (int, float)) or not math.isfinite(reward):
        raise RequestRefusedError(
            500, f"the environment's verdict has no finite reward: {verdict!r}"
        )
    if problem := mask_problem(verdict):
        raise RequestRefusedError(500, f"the environment's verdict cannot be used: {problem}")


def _cookie(name: str) -> str:
    return f"{COOKIE}={name}; Path=/; HttpOnly; SameSite=Lax"


def _with_session_cookie(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint that repeats the session's cookie in every response, also in refusals.

    NeMo Gym's agents send only the cookies of the previous response with the next request.
    """

    async def call(request: Request) -> Response:
        response = await guard_endpoint(endpoint)(request)
        name = request.cookies.get(COOKIE, "")
        if SESSION_NAME.fullmatch(name):
            response.headers["Set-Cookie"] = _cookie(name)
        return response

    return call


def _parse_arguments(tool: Tool[Any], body: Row) -> Any:
    """Return the arguments for the tool, or refuse the request with the wrong fields."""
    try:
        return tool.parse_arguments(body)
    except ValidationError as error:
        raise RequestRefusedError(
            422,
            [
                {"type": one["type"], "loc": ["body", *one["loc"]], "msg": one["msg"]}
                for one in error.errors()
            ],
        ) from error
