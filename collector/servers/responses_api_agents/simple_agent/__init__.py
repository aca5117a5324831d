"""The simple agent: it calls model and tools in turn until an answer, then asks for a verdict."""

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
from collector.servers.aggregation import aggregate_endpoint
from collector.servers.web import RequestRefusedError, json_response, make_app, read_body

Row = dict[str, Any]
Cookies = dict[str, str]
PARAMS = "responses_create_params"
SHOWN_CHARACTERS = 2000
TOOL_FIELDS = ("type", "name", "description", "parameters", "strict")


class SimpleAgentSettings(BaseModel):
    """The settings of a simple agent; a config may hold further settings."""

    model_config = ConfigDict(extra="allow", frozen=True)

    max_steps: int = Field(default=6, ge=1)
    request_timeout: PositiveFloat = 3600.0


class SimpleAgent:
    """An agent that connects one model server and one resources server."""

    def __init__(
        self, name: str, settings: SimpleAgentSettings, *, model: httpx.URL, resources: httpx.URL
    ) -> None:
        """Store the URLs of the other servers without sending a request."""
        self._name = name
        self._settings = settings
        self._model = model
        self._resources = resources
        self._client = GymClient()

    def app(self) -> Starlette:
        """Build the agent's server."""

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with self._client:
                yield

        routes = {
            "/run": self._run,
            "/v1/responses": self._respond,
            "/aggregate_metrics": aggregate_endpoint,
        }
        return make_app(self._name, routes, lifespan=lifespan)

    async def _run(self, request: Request) -> Response:
        row = await read_body(request)
        params = row.get(PARAMS)
        if not isinstance(params, dict):
            raise RequestRefusedError(
                422, [{"type": "missing", "loc": ["body", PARAMS], "msg": f"no {PARAMS}"}]
            )
        _refuse_unknown(params, [PARAMS])
        cookies: Cookies = {}
        await self._post_json(self._resources, "seed_session", row, cookies)
        response = await self._converse(params, cookies)
        verdict = await self._post_json(
            self._resources, "verify", {**row, "response": response}, cookies
        )
        return json_response({PARAMS: params, "response": response, **verdict})

    async def _respond(self, request: Request) -> Response:
        params = await read_body(request)
        _refuse_unknown(params, [])
        return json_response(await self._converse(params, dict(request.cookies)))

    async def _converse(self, params: Row, cookies: Cookies) -> Row:
        """Call the model and its tools in turn; return one response with all their output."""
        prompt = _input_items(params.get("input"))
        offered = _offered_tools(params)
        output: list[Row] = []
        usage: Row | None = None
        response: Row = {}
        model_cookies: Cookies = {}
        for _ in range(self._settings.max_steps):
            request = {**params, "input": [*prompt, *output]}
            response = await self._post_json(self._model, "v1/responses", request, model_cookies)
            new = [item for item in response.get("output") or [] if isinstance(item, dict)]
            output += new
            usage = _add_usage(usage, response.get("usage"))
            calls = [item for item in new if item.get("type") == "function_call"]
            if not calls or response.get("status") in ("incomplete", "failed"):
                break
            output += [await self._call_tool(call, offered, cookies) for call in calls]
        return {**response, "output": output, "usage": usage}

    async def _call_tool(self, call: Row, offered: set[str], cookies: Cookies) -> Row:
        """Call a tool, and return its output item; the output shows any error to the model."""
        name = str(call.get("name"))
        try:
            arguments = parse_object(str(call.get("arguments") or "{}").encode())
        except (ValueError, UnicodeEncodeError) as error:
            text = json.dumps({"error": f"the arguments are not a JSON object: {error}"})
        else:
            # call only offered tools: a model could name /verify, or another path
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

    async def _post_json(self, server: httpx.URL, path: str, body: Row, cookies: Cookies) -> Row:
        try:
            reply = await self._post(server, path, body, cookies)
        except ClientError as error:
            raise RequestRefusedError(500, f"/{path} at {server}: {error}") from error
        text = reply.body[: 4 * SHOWN_CHARACTERS].decode("utf-8", "replace")[:SHOWN_CHARACTERS]
        if reply.status != httpx.codes.OK:
            raise RequestRefusedError(500, f"/{path} at {server} answered {reply.status}: {text}")
        try:
            return parse_object(reply.body)
        except ValueError as error:
            raise RequestRefusedError(500, f"/{path} at {server}: {error}: {text}") from error

    async def _post(self, server: httpx.URL, path: str, body: Row, cookies: Cookies) -> Reply:
        url = server.copy_with(path=f"{server.path.rstrip('/')}/{path}")
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        reply = await self._client.post(
            url,
            dump(body),
            timeout=self._settings.request_timeout,
            headers={"Cookie": sent} if sent else None,
        )
        cookies.update(_reply_cookies(reply))
        return reply


def _refuse_unknown(params: Row, place: list[str]) -> None:
    """Refuse the fields that NeMo Gym's agents refuse, because no model server understands them."""
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
        raise RequestRefusedError(
            422,
            [
                {"type": "extra_forbidden", "loc": ["body", *where], "msg": message}
                for where in found
            ],
        )


def _input_items(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _offered_tools(params: Row) -> set[str]:
    tools = params.get("tools")
    return {
        str(tool["name"])
        for tool in (tools if isinstance(tools, list) else [])
        if isinstance(tool, dict) and str(tool.get("name", "")).replace("-", "_").isidentifier()
    }


def _add_usage(total: Row | None, step: Any) -> Row | None:
    """Return the total usage with a step's usage added; details are nested maps."""
    if not isinstance(step, dict):
        return total
    result = dict(total or {})
    for name, value in step.items():
        before = result.get(name)
        if isinstance(value, dict):
            result[name] = _add_usage(before if isinstance(before, dict) else None, value)
        elif _is_number(value):
            result[name] = before + value if _is_number(before) else value
        else:
            result.setdefault(name, value)
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _reply_cookies(reply: Reply) -> Cookies:
    found: Cookies = {}
    for text in reply.headers.get_list("set-cookie"):
        with contextlib.suppress(CookieError):
            found |= {name: morsel.coded_value for name, morsel in SimpleCookie(text).items()}
    return found
