"""The simple agent: model, tools, model, … until there is an answer, then a verdict."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from http.cookies import CookieError, SimpleCookie
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from collector.gym_client import ClientError, GymClient, Reply
from collector.jsonl import dump, parse_object
from collector.servers.aggregation import aggregate_metrics
from collector.servers.web import RefusedError, answer, body_of, make_app

Row = dict[str, Any]
Cookies = dict[str, str]
PARAMS = "responses_create_params"
SHOWN_CHARACTERS = 2000
TOOL_FIELDS = ("type", "name", "description", "parameters", "strict")


class Settings(BaseModel):
    """The settings of a simple agent; configs hold more than it needs."""

    model_config = ConfigDict(extra="allow", frozen=True)

    max_steps: int = Field(default=6, ge=1)
    request_timeout: PositiveFloat = 3600.0


class SimpleAgent:
    """An agent between one model server and one resources server."""

    def __init__(
        self, name: str, settings: Settings, *, model: httpx.URL, resources: httpx.URL
    ) -> None:
        """Keep where the others are; nothing is sent yet."""
        self._name = name
        self._settings = settings
        self._model = model
        self._resources = resources
        self._client = GymClient()

    def app(self) -> Starlette:
        """Build the server."""

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with self._client:
                yield

        routes = {
            "/run": self._run,
            "/v1/responses": self._respond,
            "/aggregate_metrics": self._aggregate,
        }
        return make_app(self._name, routes, lifespan=lifespan)

    async def _run(self, request: Request) -> Response:
        row = await body_of(request)
        params = row.get(PARAMS)
        if not isinstance(params, dict):
            raise RefusedError(
                422, [{"type": "missing", "loc": ["body", PARAMS], "msg": f"no {PARAMS}"}]
            )
        _refuse_unknown(params, [PARAMS])
        cookies: Cookies = {}
        await self._ask(self._resources, "seed_session", row, cookies)
        response = await self._converse(params, cookies)
        verdict = await self._ask(self._resources, "verify", {**row, "response": response}, cookies)
        return answer({PARAMS: params, "response": response, **verdict})

    async def _respond(self, request: Request) -> Response:
        params = await body_of(request)
        _refuse_unknown(params, [])
        return answer(await self._converse(params, dict(request.cookies)))

    async def _aggregate(self, request: Request) -> Response:
        body = await body_of(request)
        return answer(await aggregate_metrics(body.get("verify_responses")))

    async def _converse(self, params: Row, cookies: Cookies) -> Row:
        """Let the model and its tools take turns; return one response with everything in it."""
        given = _items(params.get("input"))
        offered = _offered(params)
        output: list[Row] = []
        usage: Row | None = None
        response: Row = {}
        model_cookies: Cookies = {}
        for _ in range(self._settings.max_steps):
            asked = {**params, "input": [*given, *output]}
            response = await self._ask(self._model, "v1/responses", asked, model_cookies)
            new = [item for item in response.get("output") or [] if isinstance(item, dict)]
            output += new
            usage = _added(usage, response.get("usage"))
            calls = [item for item in new if item.get("type") == "function_call"]
            if not calls or response.get("status") in ("incomplete", "failed"):
                break
            output += [await self._call(call, offered, cookies) for call in calls]
        return {**response, "output": output, "usage": usage}

    async def _call(self, call: Row, offered: set[str], cookies: Cookies) -> Row:
        """Call a tool; whatever goes wrong is for the model to see."""
        name = str(call.get("name"))
        try:
            arguments = parse_object(str(call.get("arguments") or "{}").encode())
        except (ValueError, UnicodeEncodeError) as error:
            text = json.dumps({"error": f"the arguments are not a JSON object: {error}"})
        else:
            # only what was offered: a model could name /verify, or another path
            text = (
                await self._tool_output(name, arguments, cookies)
                if name in offered
                else json.dumps({"error": f"there is no tool {name[:100]}"})
            )
        return {"type": "function_call_output", "call_id": call.get("call_id"), "output": text}

    async def _tool_output(self, name: str, arguments: Row, cookies: Cookies) -> str:
        try:
            reply = await self._post(self._resources, name, arguments, cookies)
        except ClientError as error:
            return json.dumps({"error": f"the tool could not be called: {error}"})
        return reply.body.decode("utf-8", "replace")

    async def _ask(self, server: httpx.URL, path: str, body: Row, cookies: Cookies) -> Row:
        try:
            reply = await self._post(server, path, body, cookies)
        except ClientError as error:
            raise RefusedError(500, f"/{path} at {server}: {error}") from error
        text = reply.body[: 4 * SHOWN_CHARACTERS].decode("utf-8", "replace")[:SHOWN_CHARACTERS]
        if reply.status != httpx.codes.OK:
            raise RefusedError(500, f"/{path} at {server} answered {reply.status}: {text}")
        try:
            return parse_object(reply.body)
        except ValueError as error:
            raise RefusedError(500, f"/{path} at {server}: {error}: {text}") from error

    async def _post(self, server: httpx.URL, path: str, body: Row, cookies: Cookies) -> Reply:
        url = server.copy_with(path=f"{server.path.rstrip('/')}/{path}")
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        reply = await self._client.post(
            url,
            dump(body),
            timeout=self._settings.request_timeout,
            headers={"Cookie": sent} if sent else None,
        )
        cookies.update(_cookies(reply))
        return reply


def _refuse_unknown(params: Row, place: list[str]) -> None:
    """Refuse what NeMo Gym's agents refuse: fields that no model server would understand."""
    tools = params.get("tools")
    found = [
        [*place, "tools", number, "FunctionToolParam", name]
        for number, tool in enumerate(tools if isinstance(tools, list) else [])
        if isinstance(tool, dict) and tool.get("type") == "function"
        for name in tool
        if name not in TOOL_FIELDS
    ]
    if "max_tokens" in params:
        found.append([*place, "max_tokens"])
    if found:
        message = "Extra inputs are not permitted"
        raise RefusedError(
            422,
            [
                {"type": "extra_forbidden", "loc": ["body", *where], "msg": message}
                for where in found
            ],
        )


def _items(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []


def _offered(params: Row) -> set[str]:
    tools = params.get("tools")
    return {
        str(tool["name"])
        for tool in (tools if isinstance(tools, list) else [])
        if isinstance(tool, dict) and str(tool.get("name", "")).replace("-", "_").isidentifier()
    }


def _added(total: Row | None, step: Any) -> Row | None:
    """Add up the usage of the steps; details are maps themselves."""
    if not isinstance(step, dict):
        return total
    result = dict(total or {})
    for name, value in step.items():
        before = result.get(name)
        if isinstance(value, dict):
            result[name] = _added(before if isinstance(before, dict) else None, value)
        elif _is_number(value):
            result[name] = before + value if _is_number(before) else value
        else:
            result.setdefault(name, value)
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cookies(reply: Reply) -> Cookies:
    found: Cookies = {}
    for text in reply.headers.get_list("set-cookie"):
        with contextlib.suppress(CookieError):
            found |= {name: morsel.coded_value for name, morsel in SimpleCookie(text).items()}
    return found
